//! What is set up wrong, and transactions that must not commit.

use idem::{ErrorKind, Handler, Inbox, Key};
use sqlx::{Connection, Executor, Sqlite, SqliteConnection, Transaction};

use super::handlers::{charge, elsewhere, note, write};
use super::run;
use super::scene::{Scene, options};
use crate::ends::{ChargeError, End};
use crate::files::File;

#[test]
fn a_result_that_cannot_be_written_takes_the_transaction_with_it() {
    let scene = Scene::new();
    run(async {
        let refuse = "create trigger no before update on idem_record begin select raise(abort, 'no'); end";
        scene.file.open().execute_batch(refuse).unwrap();
        let mut tx = scene.begin().await;
        note("before", End::Well, &mut tx).await.unwrap();
        let error = charge("a", End::Well, &mut tx).await.unwrap_err().idem();
        assert!(error.to_string().contains("cannot write a result"), "{error}");
        // What is written now is no part of the lost one, and is not committed by itself.
        write(&mut tx, "after").await.unwrap();
        assert_eq!((scene.found("after"), scene.found("a"), scene.found("before")), ((0, 0), (0, 0), (0, 0)));
        tx.commit().await.unwrap();
        assert_eq!((scene.found("after"), scene.found("a"), scene.found("before")), ((1, 0), (0, 0), (0, 0)));
    });
}

/// Of any depth, and with a transaction that SQLite has ended behind sqlx's back.
#[test]
fn a_record_that_is_gone_when_the_body_ends_takes_the_transaction_with_it() {
    async fn lose(tx: &mut Transaction<'_, Sqlite>, how: &'static str) {
        let inbox = Inbox::new(Handler::new("tests.gone"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let ran = inbox.run(tx, &key, async |tx| {
            write(tx, "a").await?;
            tx.execute(how).await?;
            Ok::<_, ChargeError>(7)
        });
        let error = ran.await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains("rolled back or deleted while the body ran"), "{error}");
    }
    let scene = Scene::new();
    run(async {
        let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
        let pool = pool.connect_with(options(&scene.file.path)).await.unwrap();
        for how in ["delete from idem_record", "rollback"] {
            let mut tx = pool.begin().await.unwrap();
            write(&mut tx, "a").await.unwrap();
            lose(&mut tx, how).await;
            tx.commit().await.unwrap();
            // Nobody has left the connection in a transaction: this would fail within one.
            pool.begin_with("begin immediate").await.unwrap().rollback().await.unwrap();
            assert_eq!(scene.found("a"), (0, 0), "{how}");
        }
        let mut tx = pool.begin().await.unwrap();
        write(&mut tx, "a").await.unwrap();
        let mut inner = Connection::begin(&mut *tx).await.unwrap();
        lose(&mut inner, "delete from idem_record").await;
        inner.commit().await.unwrap();
        tx.commit().await.unwrap();
        pool.begin_with("begin immediate").await.unwrap().rollback().await.unwrap();
        assert_eq!(scene.found("a"), (0, 0), "in a savepoint");
    });
}

/// sqlx does not know that the transaction is over.
#[test]
fn a_body_that_commits_and_then_fails_is_left_to_a_person() {
    let scene = Scene::new();
    run(async {
        let inbox = Inbox::new(Handler::new("tests.committed_itself"));
        let half = "savepoint a; insert into charge values ('in a savepoint'); release a";
        for (message, end, left) in [("a", "commit", true), ("b", "rollback", false), ("c", half, false)] {
            let key = Key::trusted(format!("msg:{message}"), "a test").unwrap();
            let mut connection = SqliteConnection::connect_with(&options(&scene.file.path)).await.unwrap();
            let mut tx = connection.begin().await.unwrap();
            let ran = inbox.run(&mut tx, &key, async |tx| {
                write(tx, message).await?;
                tx.execute(end).await?;
                Err::<u32, _>(ChargeError::Other("too late".to_owned()))
            });
            assert!(matches!(ran.await, Err(ChargeError::Other(_))), "{message}");
            drop(tx);
            // It keeps sqlx's count, which is wrong now.
            connection.close().await.unwrap();
            assert_eq!(scene.found(message).0, u32::from(left), "{message}");
            let mut connection = SqliteConnection::connect_with(&options(&scene.file.path)).await.unwrap();
            let mut tx = connection.begin().await.unwrap();
            let again = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await;
            let kind = left.then_some(ErrorKind::Lapsed);
            assert_eq!(again.as_ref().err().map(idem::Error::kind), kind, "{message}: {again:?}");
        }
    });
}

#[test]
fn f18_a_store_on_another_file_is_refused() {
    let (scene, other) = (Scene::new(), File::new());
    run(async {
        let store = other.store();
        let mut tx = scene.begin().await;
        let error = elsewhere("a", 7, &mut tx, &store).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains("could not commit with the handler's rows"), "{error}");
        tx.commit().await.unwrap();
        assert_eq!((scene.found("a"), other.records()), ((0, 0), 0));

        let mut memory = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let mut tx = memory.begin().await.unwrap();
        let inbox = Inbox::within(&store, Handler::new("tests.memory"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let error = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
        assert!(error.to_string().contains("in memory"), "{error}");
    });
}

#[test]
fn f18_the_same_file_by_another_name_is_the_same() {
    let scene = Scene::new();
    run(async {
        let link = scene.file.path.with_file_name("link.db");
        std::os::unix::fs::symlink(&scene.file.path, &link).unwrap();
        let store = scene.file.store();
        let pool = sqlx::SqlitePool::connect_with(options(&link)).await.unwrap();
        let mut tx = pool.begin().await.unwrap();
        assert_eq!(elsewhere("a", 7, &mut tx, &store).await.unwrap(), 7);
    });
}

/// To ask for the file's name is not to read: the transaction would have to stay with what it has seen.
#[test]
fn a_store_that_is_named_does_not_make_its_transaction_read_before_it_writes() {
    let scene = Scene::new();
    run(async {
        let store = scene.file.store();
        let mut tx = scene.begin().await;
        tx.execute("pragma database_list").await.unwrap();
        note("b", End::Well, &mut scene.begin().await).await.unwrap();
        let mut first = scene.begin().await;
        note("b", End::Well, &mut first).await.unwrap();
        first.commit().await.unwrap();
        assert_eq!(elsewhere("a", 7, &mut tx, &store).await.unwrap(), 7);
        tx.commit().await.unwrap();
        assert_eq!(scene.found("a"), (1, 2));
    });
}

#[test]
fn without_its_table_a_handler_says_how_to_make_it() {
    run(async {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let mut tx = connection.begin().await.unwrap();
        let inbox = Inbox::new(Handler::new("tests.no_table"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let error = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains("SqliteRecords::ensure_schema(&mut connection)"), "{error}");
    });
}

#[test]
fn a_record_that_idem_never_wrote_is_corrupt() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        charge("a", End::Well, &mut tx).await.unwrap();
        tx.commit().await.unwrap();
        let damage = "pragma ignore_check_constraints = on; update idem_record set token = x'00'";
        scene.file.open().execute_batch(damage).unwrap();
        let mut tx = scene.begin().await;
        let error = charge("a", End::Well, &mut tx).await.unwrap_err().idem();
        assert!(error.to_string().contains("column `token`"), "{error}");
        assert_eq!(scene.found("a"), (1, 1));
    });
}

#[test]
fn a_file_that_is_full_says_so_and_the_connection_is_fit_for_the_next_transaction() {
    let scene = Scene::new();
    run(async {
        let mut connection = SqliteConnection::connect_with(&options(&scene.file.path)).await.unwrap();
        connection.execute("pragma max_page_count = 1").await.unwrap();
        let inbox = Inbox::new(Handler::new("tests.full"));
        let mut refused = None;
        for n in 0..2_000 {
            let key = Key::trusted(format!("msg:{n}"), "a test").unwrap();
            let mut tx = connection.begin().await.unwrap();
            match inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>("x".repeat(4_000))).await {
                Ok(_) => tx.commit().await.unwrap(),
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        let error = refused.expect("it is full at some time");
        assert!(error.to_string().contains("is full"), "{error}");
        let before = scene.file.records();
        connection.execute("pragma max_page_count = 100000").await.unwrap();
        let mut tx = connection.begin_with("begin immediate").await.unwrap();
        let key = Key::trusted("msg:next", "a test").unwrap();
        let ran = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>("x".repeat(4_000))).await.unwrap();
        assert!(ran.is_executed());
        tx.commit().await.unwrap();
        assert_eq!(scene.file.records(), before + 1);
    });
}

//! What commits, what does not, and what is answered afterwards.

use idem::{ErrorKind, Handler, Inbox, Key, Outcome, Store, idempotent};

use tokio::sync::Notify;

use crate::database::{open, run};
use crate::ends::ChargeError;
use crate::handlers::{Tx, write};
use crate::promises::{self, hung, until};
use crate::scene::Scene;

macro_rules! promised {
    ($($name:ident($($store:ident)?))*) => {$(
        #[test]
        #[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
        fn $name() {
            let scene = Scene::new();
            $(let $store = open(&scene.store());)?
            run(promises::$name(&scene $(, &$store)?));
        }
    )*};
}

each_promise!(promised);

/// A statement fails, and the body does not say so.
#[idempotent(key = "msg:<message>", tx = tx)]
async fn careless(message: &str, tx: Tx<'_>) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    let _ = sqlx::query("select 1 / 0").execute(&mut **tx).await;
    Ok(1)
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_body_that_hides_a_failed_statement_is_no_success() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        let error = careless("a", &mut tx).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("had failed before"), "{error}");
        let _ = tx.commit().await;
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_record_that_a_lease_holds_is_in_progress_and_taken_over_once_that_has_lapsed() {
    let scene = Scene::new();
    let store = open(&scene.store());
    run(async {
        let handler = || Handler::new("tests.lease");
        let key = Key::trusted("msg:a", "a test").unwrap();
        let held = idem::Idempotent::new(&store, handler());
        let begun = Notify::new();
        until(&begun, held.run(&key, || hung(&begun))).await;
        let inbox = Inbox::within(&store, handler());

        let mut tx = scene.begin().await;
        let busy = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::InProgress, "{busy}");
        tx.commit().await.unwrap();

        // As if it were half a minute later.
        sqlx::query("update idem_record set lease_at = made_at").execute(&scene.pool).await.unwrap();
        let mut tx = scene.begin().await;
        let failed = inbox.run(&mut tx, &key, async |_| Err::<u32, _>(ChargeError::Other("no".into()))).await;
        assert!(matches!(failed, Err(ChargeError::Other(_))), "{failed:?}");
        tx.commit().await.unwrap();
        let state = "select st::integer from idem_record";
        assert_eq!(sqlx::query_scalar::<_, i32>(state).fetch_one(&scene.pool).await.unwrap(), 1);

        let mut tx = scene.begin().await;
        let ran = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(8)).await.unwrap();
        assert_eq!(ran, Outcome::Executed { value: 8, recorded: true });
        tx.commit().await.unwrap();
        assert_eq!(sqlx::query_scalar::<_, i32>(state).fetch_one(&scene.pool).await.unwrap(), 2);
        assert_eq!(store.sweep(10).wait().unwrap(), 0);
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_record_that_is_gone_when_the_body_ends_takes_the_transaction_with_it() {
    let scene = Scene::new();
    run(async {
        let inbox = Inbox::new(Handler::new("tests.gone"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let mut tx = scene.begin().await;
        let ran = inbox.run(&mut tx, &key, async |tx| {
            sqlx::query("insert into charge (message) values ('a')").execute(&mut **tx).await?;
            sqlx::query("delete from idem_record").execute(&mut **tx).await?;
            Ok::<_, ChargeError>(7)
        });
        let error = ran.await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        let _ = tx.commit().await;
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
    });
}

/// The same, where the record holds all that there is to say from the start.
#[idempotent(key = "msg:<message>", tx = tx)]
async fn careless_without_a_result(
    message: &str,
    hidden: &'static str,
    tx: Tx<'_>,
) -> Result<(), ChargeError> {
    write(tx, message).await?;
    let _ = sqlx::query(hidden).execute(&mut **tx).await;
    Ok(())
}

/// sqlx calls the commit of such a transaction a success, though it is a rollback: the message would be acknowledged.
#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn nor_is_one_that_has_no_result_to_write() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        let error = careless_without_a_result("a", "select 1 / 0", &mut tx).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("had failed before"), "{error}");
        let _ = tx.commit().await;
        let mut tx = scene.begin().await;
        let error =
            careless_without_a_result("a", "delete from idem_record", &mut tx).await.unwrap_err().idem();
        assert!(error.to_string().contains("rolled back or deleted"), "{error}");
        let _ = tx.commit().await;
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
        let mut tx = scene.begin().await;
        careless_without_a_result("a", "select 1", &mut tx).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!((scene.charges("a").await, scene.records().await), (1, 1));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_body_that_commits_and_then_fails_is_left_to_a_person() {
    let scene = Scene::new();
    let store = open(&scene.store());
    run(async {
        let inbox = Inbox::within(&store, Handler::new("tests.committed_itself"));
        let held = idem::Idempotent::new(&store, Handler::new("tests.committed_itself"));
        for (message, end, kind, charges) in [
            ("new", "commit", Some(ErrorKind::Lapsed), 1),
            ("after a lease", "commit", Some(ErrorKind::Lapsed), 1),
            ("rolled back", "rollback", None, 0),
            ("in a savepoint", "savepoint a; insert into charge values ('x'); release a", None, 1),
        ] {
            let key = Key::trusted(format!("msg:{}", message.replace(' ', "-")), "a test").unwrap();
            if message == "after a lease" {
                let begun = Notify::new();
                until(&begun, held.run(&key, || hung(&begun))).await;
                let lapse = "update idem_record set lease_at = made_at where st = 1";
                sqlx::query(lapse).execute(&scene.pool).await.unwrap();
            }
            let mut tx = scene.begin().await;
            let half = inbox.run(&mut tx, &key, async |tx| {
                write(tx, message).await?;
                sqlx::raw_sql(end).execute(&mut **tx).await?;
                Err::<u32, _>(ChargeError::Other("too late".to_owned()))
            });
            assert!(matches!(half.await, Err(ChargeError::Other(_))), "{message}");
            // The caller's own decision, against all advice.
            tx.commit().await.unwrap();
            assert_eq!(scene.charges(message).await, charges, "{message}");
            let mut tx = scene.begin().await;
            let again = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await;
            assert_eq!(again.as_ref().err().map(idem::Error::kind), kind, "{message}: {again:?}");
        }
    });
}

/// A body that has the table's name mean another one, as where each tenant has a schema.
#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_body_that_looks_for_tables_elsewhere_takes_no_record_for_withdrawn() {
    let (scene, other) = (Scene::new(), Scene::new());
    run(async {
        let elsewhere: &'static str = format!("set local search_path = {}", other.schema).leak();
        let inbox = Inbox::new(Handler::new("tests.elsewhere"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        for fails in [true, false] {
            let mut tx = scene.begin().await;
            let ran = inbox.run(&mut tx, &key, async |tx| {
                write(tx, "a").await?;
                sqlx::query(elsewhere).execute(&mut **tx).await?;
                if fails { Err(ChargeError::Other("no".to_owned())) } else { Ok(()) }
            });
            let error = ran.await.unwrap_err();
            assert_eq!(matches!(error, ChargeError::Other(_)), fails, "{error:?}");
            // The caller's own decision, against all advice.
            tx.commit().await.unwrap();
            assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
        }
        // One that looks there from the start has its record there.
        let mut tx = scene.begin().await;
        sqlx::query(elsewhere).execute(&mut *tx).await.unwrap();
        inbox.run(&mut tx, &key, async |tx| Ok::<_, ChargeError>(write(tx, "a").await?)).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!((scene.records().await, other.records().await, other.charges("a").await), (0, 1, 1));
    });
}

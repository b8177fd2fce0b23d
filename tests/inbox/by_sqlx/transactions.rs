//! What commits, what does not, and what is answered afterwards.

use std::time::Duration;

use idem::inbox::Entering;
use idem::{ErrorKind, Handler, Idempotent, Inbox, Key, ManualClock, Outcome, SqliteStore};
use sqlx::Acquire;

use super::handlers::{charge, elsewhere, note, write};
use super::{Scene, run};
use crate::files::{ChargeError, End};

#[test]
fn the_record_commits_with_the_rows_and_is_replayed() {
    run(async {
        let scene = Scene::new().await;
        for delivery in 0..3 {
            let mut tx = scene.begin().await;
            let charged = charge("a", End::Well, &mut tx).await.unwrap();
            note("a", End::Well, &mut tx).await.unwrap();
            tx.commit().await.unwrap();
            assert_eq!(charged.is_executed(), delivery == 0, "{charged:?}");
            assert_eq!(charged.value(), "receipt of msg:a");
            assert!(!matches!(charged, Outcome::Executed { recorded: false, .. }));
        }
        assert_eq!(scene.found("a"), (2, 2));
    });
}

#[test]
fn what_is_rolled_back_leaves_neither_a_row_nor_a_record() {
    run(async {
        let scene = Scene::new().await;
        let mut tx = scene.begin().await;
        charge("a", End::Well, &mut tx).await.unwrap();
        note("a", End::Well, &mut tx).await.unwrap();
        tx.rollback().await.unwrap();
        let mut dropped = scene.begin().await;
        note("a", End::Well, &mut dropped).await.unwrap();
        drop(dropped);
        let mut panicked = scene.begin().await;
        let panicking = tokio::spawn(async move {
            let inbox = Inbox::new(Handler::new("tests.panic"));
            let key = Key::trusted("msg:a", "a test").unwrap();
            let call = inbox.call(&key);
            let entered: Entering<'_, Result<Outcome<u32>, ChargeError>, _> = call.enter(&mut panicked).await;
            assert!(matches!(entered, Entering::Inside(_)));
            write(&mut panicked, "a").await.unwrap();
            panic!("on purpose");
        });
        assert!(panicking.await.unwrap_err().is_panic());
        scene.pool.close().await;
        assert_eq!(scene.found("a"), (0, 0));
    });
}

#[test]
fn after_an_error_nothing_is_remembered_even_if_the_caller_commits() {
    run(async {
        let scene = Scene::new().await;
        let mut tx = scene.begin().await;
        charge("a", End::Badly, &mut tx).await.unwrap_err();
        note("a", End::Badly, &mut tx).await.unwrap_err();
        tx.commit().await.unwrap();
        // The caller's own decision, against all advice.
        assert_eq!(scene.found("a"), (2, 0));
        let mut tx = scene.begin().await;
        assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
    });
}

#[test]
fn an_error_worth_remembering_is_remembered_if_the_caller_commits() {
    run(async {
        let scene = Scene::new().await;
        let mut tx = scene.begin().await;
        charge("a", End::Finally, &mut tx).await.unwrap_err();
        tx.rollback().await.unwrap();
        assert_eq!(scene.found("a"), (0, 0));

        let mut tx = scene.begin().await;
        charge("a", End::Finally, &mut tx).await.unwrap_err();
        tx.commit().await.unwrap();
        let mut tx = scene.begin().await;
        let refused = charge("a", End::Well, &mut tx).await.unwrap_err();
        assert!(matches!(&refused, ChargeError::Declined(why) if why == "never"), "{refused:?}");
        assert_eq!(scene.found("a"), (1, 1));
    });
}

#[test]
fn two_handlers_and_one_message_twice_share_a_transaction() {
    run(async {
        let scene = Scene::new().await;
        let mut tx = scene.begin().await;
        assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
        note("a", End::Well, &mut tx).await.unwrap();
        let again = charge("a", End::Well, &mut tx).await.unwrap();
        assert!(
            matches!(&again, Outcome::Replayed { value, .. } if value == "receipt of msg:a"),
            "{again:?}"
        );
        assert_eq!(scene.found("a"), (0, 0));
        tx.commit().await.unwrap();
        assert_eq!(scene.found("a"), (2, 2));
    });
}

#[test]
fn a_savepoint_takes_its_record_with_it() {
    run(async {
        let scene = Scene::new().await;
        let inbox = Inbox::new(Handler::new("tests.savepoint"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let mut tx = scene.begin().await;
        note("kept", End::Well, &mut tx).await.unwrap();
        {
            let mut inner = tx.begin().await.unwrap();
            assert!(
                inbox.run(&mut inner, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap().is_executed()
            );
            inner.rollback().await.unwrap();
            let mut inner = tx.begin().await.unwrap();
            let ran = inbox.run(&mut inner, &key, async |_| Ok::<_, idem::Error>(8)).await.unwrap();
            assert_eq!(ran, Outcome::Executed { value: 8, recorded: true });
            inner.commit().await.unwrap();
        }
        tx.commit().await.unwrap();
        let mut tx = scene.begin().await;
        let again = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(9)).await.unwrap();
        assert_eq!(again.into_value(), 8);
        assert_eq!(scene.found("kept"), (1, 2));
    });
}

#[test]
fn handlers_and_inboxes_can_be_spawned() {
    run(async {
        let scene = Scene::new().await;
        let pool = scene.pool.clone();
        let spawned = tokio::spawn(async move {
            let inbox = Inbox::new(Handler::new("tests.spawned"));
            let key = Key::trusted("msg:a", "a test").unwrap();
            let mut tx = pool.begin().await.unwrap();
            note("a", End::Well, &mut tx).await.unwrap();
            let call = inbox.call(&key);
            let ran: Result<Outcome<u32>, ChargeError> = match call.enter(&mut tx).await {
                Entering::Answered(answer) => answer,
                Entering::Inside(inside) => {
                    charge("b", End::Well, &mut tx).await.unwrap();
                    inside.settle(&mut tx, Ok(7.into())).await
                }
            };
            tx.commit().await.unwrap();
            ran.unwrap().into_value()
        });
        assert_eq!(spawned.await.unwrap(), 7);
        assert_eq!((scene.found("a"), scene.found("b")), ((1, 3), (1, 3)));
    });
}

#[test]
fn another_payload_under_a_known_key_is_refused() {
    run(async {
        let scene = Scene::new().await;
        let store = scene.file.store();
        let mut tx = scene.begin().await;
        assert_eq!(elsewhere("a", 1200, &mut tx, &store).await.unwrap(), 1200);
        assert_eq!(elsewhere("a", 1200, &mut tx, &store).await.unwrap(), 1200);
        let error = elsewhere("a", 9900, &mut tx, &store).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
    });
}

#[test]
fn records_of_leases_and_former_scopes_answer() {
    run(async {
        let scene = Scene::new().await;
        let clock = ManualClock::new();
        let store = SqliteStore::builder(&scene.file.path).beside_other_tables();
        let store = store.clock(clock.clone()).open().unwrap();
        let key = |name: &str| Key::trusted(name, "a test").unwrap();
        let lease = Duration::from_secs(30);
        let old = Idempotent::new(&store, Handler::new("orders.old").lease(lease));
        old.run(&key("msg:done"), async || Ok::<_, idem::Error>(1)).await.unwrap();
        // Held: its worker fell silent.
        let (begun, held) = (tokio::sync::Notify::new(), key("msg:held"));
        let silent = old.run(&held, || async {
            begun.notify_one();
            std::future::pending::<Result<u32, idem::Error>>().await
        });
        tokio::select! {
            () = begun.notified() => {}
            ended = silent => panic!("it ended: {ended:?}"),
        }

        let new = Inbox::within(&store, Handler::new("orders.new").scope_was(&["orders.old"]).lease(lease));
        let mut tx = scene.begin().await;
        let done = new.run(&mut tx, &key("msg:done"), async |_| Ok::<_, idem::Error>(2)).await.unwrap();
        assert_eq!(done.into_value(), 1);
        let busy = new.run(&mut tx, &held, async |_| Ok::<_, idem::Error>(2)).await.unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::InProgress, "{busy}");
        clock.advance(lease);
        let ran = new.run(&mut tx, &held, async |_| Ok::<_, idem::Error>(2)).await.unwrap();
        assert!(ran.is_executed());
        tx.commit().await.unwrap();
        assert_eq!(scene.file.records(), 3);

        // Of the same scope, the lapsed record itself is taken over, and put back after an error.
        let same = Inbox::within(&store, Handler::new("orders.old").lease(lease));
        let unsettled = || -> u32 {
            let count = "select count(*) from idem_record where st < 2";
            scene.file.open().query_row(count, [], |row| row.get(0)).unwrap()
        };
        let mut tx = scene.begin().await;
        let failed = same.run(&mut tx, &held, async |_| Err::<u32, _>(ChargeError::Other("no".into()))).await;
        assert!(matches!(failed, Err(ChargeError::Other(_))), "{failed:?}");
        tx.commit().await.unwrap();
        assert_eq!(unsettled(), 1);
        let mut tx = scene.begin().await;
        let ran = same.run(&mut tx, &held, async |_| Ok::<_, idem::Error>(3)).await.unwrap();
        assert!(ran.is_executed());
        tx.commit().await.unwrap();
        assert_eq!((unsettled(), scene.file.records()), (0, 3));
    });
}

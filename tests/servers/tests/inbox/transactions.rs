//! What commits, what does not, and what is answered afterwards.

use idem::inbox::Entering;
use idem::{ErrorKind, Handler, Inbox, Key, Outcome, Store};
use sqlx::Acquire;
use tokio::sync::Notify;

use crate::database::{open, run};
use crate::handlers::{ChargeError, End, careless, charge, elsewhere, note, renamed, with_a_lease};
use crate::scene::Scene;

/// A body that begins and never ends.
async fn hung(begun: &Notify) -> Result<u32, idem::Error> {
    begun.notify_one();
    std::future::pending().await
}

/// Drops `work` once its body has begun.
async fn until<T: std::fmt::Debug>(begun: &Notify, work: impl Future<Output = T>) {
    tokio::select! {
        () = begun.notified() => {}
        ended = work => panic!("it ended: {ended:?}"),
    }
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn the_record_commits_with_the_rows_and_is_replayed() {
    let scene = Scene::new();
    run(async {
        for delivery in 0..3 {
            let mut tx = scene.begin().await;
            let charged = charge("a", End::Well, &mut tx).await.unwrap();
            note("a", End::Well, &mut tx).await.unwrap();
            tx.commit().await.unwrap();
            assert_eq!(charged.is_executed(), delivery == 0, "{charged:?}");
            assert_eq!(charged.value(), "receipt of msg:a");
            if let Outcome::Executed { recorded, .. } = charged {
                assert!(recorded);
            }
        }
        assert_eq!((scene.charges("a").await, scene.records().await), (2, 2));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn what_is_rolled_back_leaves_neither_a_row_nor_a_record() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        charge("a", End::Well, &mut tx).await.unwrap();
        note("a", End::Well, &mut tx).await.unwrap();
        tx.rollback().await.unwrap();
        let mut dropped = scene.begin().await;
        note("a", End::Well, &mut dropped).await.unwrap();
        drop(dropped);
        assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn after_an_error_nothing_is_remembered_even_if_the_caller_commits() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        charge("a", End::Badly, &mut tx).await.unwrap_err();
        note("a", End::Badly, &mut tx).await.unwrap_err();
        tx.commit().await.unwrap();
        // The caller's own decision, against all advice.
        assert_eq!((scene.charges("a").await, scene.records().await), (2, 0));

        let mut tx = scene.begin().await;
        assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn an_error_worth_remembering_is_remembered_if_the_caller_commits() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        charge("a", End::Finally, &mut tx).await.unwrap_err();
        tx.rollback().await.unwrap();
        assert_eq!(scene.records().await, 0);

        let mut tx = scene.begin().await;
        charge("a", End::Finally, &mut tx).await.unwrap_err();
        tx.commit().await.unwrap();
        let mut tx = scene.begin().await;
        let refused = charge("a", End::Well, &mut tx).await.unwrap_err();
        assert!(matches!(&refused, ChargeError::Declined(why) if why == "never"), "{refused:?}");
        assert_eq!(scene.charges("a").await, 1);
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn two_handlers_and_one_message_twice_share_a_transaction() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
        note("a", End::Well, &mut tx).await.unwrap();
        let again = charge("a", End::Well, &mut tx).await.unwrap();
        assert!(
            matches!(&again, Outcome::Replayed { value, .. } if value == "receipt of msg:a"),
            "{again:?}"
        );
        // What another session could not see yet.
        assert_eq!(scene.records().await, 0);
        tx.commit().await.unwrap();
        assert_eq!((scene.charges("a").await, scene.records().await), (2, 2));
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_savepoint_takes_its_record_with_it() {
    let scene = Scene::new();
    run(async {
        let mut tx = scene.begin().await;
        note("kept", End::Well, &mut tx).await.unwrap();
        {
            let mut inner = tx.begin().await.unwrap();
            let inbox = Inbox::new(Handler::new("tests.savepoint"));
            let key = Key::trusted("msg:a", "a test").unwrap();
            let ran = inbox.run(&mut inner, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap();
            assert!(ran.is_executed());
            inner.rollback().await.unwrap();

            let mut inner = tx.begin().await.unwrap();
            let ran = inbox.run(&mut inner, &key, async |_| Ok::<_, idem::Error>(8)).await.unwrap();
            assert_eq!(ran, Outcome::Executed { value: 8, recorded: true });
            inner.commit().await.unwrap();
        }
        tx.commit().await.unwrap();
        assert_eq!(scene.records().await, 2);
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn a_future_that_is_dropped_midway_leaves_nothing_with_its_transaction() {
    let scene = Scene::new();
    run(async {
        let inbox = Inbox::new(Handler::new("tests.dropped"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let mut tx = scene.begin().await;
        let begun = Notify::new();
        until(&begun, inbox.run(&mut tx, &key, async |_| hung(&begun).await)).await;
        drop(tx);
        let mut tx = scene.begin().await;
        let ran = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap();
        assert!(ran.is_executed());
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn half_a_body_that_was_committed_all_the_same_is_parked() {
    let scene = Scene::new();
    run(async {
        let inbox = Inbox::new(Handler::new("tests.committed"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let mut tx = scene.begin().await;
        let begun = Notify::new();
        until(&begun, inbox.run(&mut tx, &key, async |_| hung(&begun).await)).await;
        tx.commit().await.unwrap();
        let mut tx = scene.begin().await;
        let refused = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Lapsed, "{refused}");
    });
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
fn another_payload_under_a_known_key_is_refused() {
    let scene = Scene::new();
    let store = open(&scene.store());
    run(async {
        let mut tx = scene.begin().await;
        assert_eq!(elsewhere("a", 1200, &mut tx, &store).await.unwrap(), 1200);
        tx.commit().await.unwrap();
        let mut tx = scene.begin().await;
        assert_eq!(elsewhere("a", 1200, &mut tx, &store).await.unwrap(), 1200);
        let error = elsewhere("a", 9900, &mut tx, &store).await.unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
    });
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn records_of_former_scopes_and_modes_answer() {
    let scene = Scene::new();
    let store = open(&scene.store());
    run(async {
        assert_eq!(with_a_lease("done before", &store).await.unwrap(), 1);
        let mut tx = scene.begin().await;
        assert_eq!(renamed("done before", End::Well, &mut tx, &store).await.unwrap(), 1);
        assert_eq!(renamed("new", End::Well, &mut tx, &store).await.unwrap(), 2);
        tx.commit().await.unwrap();
        assert_eq!((scene.charges("done before").await, scene.charges("new").await), (0, 1));
        assert_eq!(scene.records().await, 2);
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
fn handlers_and_inboxes_can_be_spawned() {
    let scene = Scene::new();
    let pool = scene.pool.clone();
    run(async {
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
        assert_eq!((scene.charges("a").await, scene.charges("b").await), (1, 1));
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

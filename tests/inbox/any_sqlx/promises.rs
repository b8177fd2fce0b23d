//! What either database promises: each is a test of its own with each of them.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use idem::inbox::Entering;
use idem::{ErrorKind, Handler, Inbox, Key, OnDuplicate, Outcome, idempotent};
use sqlx::Acquire;
use tokio::sync::Notify;

use super::handlers::{Tx, charge, elsewhere, note, renamed, with_a_lease, write};
use super::scene::{NamedStore, Scene};
use crate::ends::{ChargeError, End};

/// Gives `$test` the names of all, with `store` in those that want one.
macro_rules! each_promise {
    ($test:ident) => {
        $test! {
            the_record_commits_with_the_rows_and_is_replayed()
            what_is_rolled_back_leaves_neither_a_row_nor_a_record()
            a_body_that_panics_leaves_neither_a_row_nor_a_record()
            after_a_panic_nothing_is_remembered_even_if_the_caller_commits()
            after_an_error_nothing_is_remembered_even_if_the_caller_commits()
            an_error_worth_remembering_is_remembered_if_the_caller_commits()
            two_handlers_and_one_message_twice_share_a_transaction()
            a_savepoint_takes_its_record_with_it()
            a_future_that_is_dropped_midway_leaves_nothing_with_its_transaction()
            half_a_body_that_was_committed_all_the_same_is_parked()
            another_payload_under_a_known_key_is_refused(store)
            records_of_former_scopes_and_modes_answer(store)
            handlers_and_inboxes_can_be_spawned()
        }
    };
}

/// A body that begins and never ends.
pub(crate) async fn hung(begun: &Notify) -> Result<u32, idem::Error> {
    begun.notify_one();
    std::future::pending().await
}

/// Drops `work` once its body has begun.
pub(crate) async fn until<T: std::fmt::Debug>(begun: &Notify, work: impl Future<Output = T>) {
    tokio::select! {
        () = begun.notified() => {}
        ended = work => panic!("it ended: {ended:?}"),
    }
}

pub(crate) async fn the_record_commits_with_the_rows_and_is_replayed(scene: &Scene) {
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
}

pub(crate) async fn what_is_rolled_back_leaves_neither_a_row_nor_a_record(scene: &Scene) {
    let mut tx = scene.begin().await;
    charge("a", End::Well, &mut tx).await.unwrap();
    note("a", End::Well, &mut tx).await.unwrap();
    tx.rollback().await.unwrap();
    let mut dropped = scene.begin().await;
    note("a", End::Well, &mut dropped).await.unwrap();
    drop(dropped);
    assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
}

pub(crate) async fn a_body_that_panics_leaves_neither_a_row_nor_a_record(scene: &Scene) {
    let mut tx = scene.begin().await;
    let panicking = tokio::spawn(async move {
        let inbox = Inbox::new(Handler::new("tests.panic"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let call = inbox.call(&key);
        let entered: Entering<'_, Result<Outcome<u32>, ChargeError>, _> = call.enter(&mut tx).await;
        assert!(matches!(entered, Entering::Inside(_)));
        write(&mut tx, "a").await.unwrap();
        panic!("on purpose");
    });
    assert!(panicking.await.unwrap_err().is_panic());
    assert_eq!((scene.charges("a").await, scene.records().await), (0, 0));
}

/// The record of a handler that has only one result says so from the start.
#[idempotent(key = "msg:<message>", tx = tx)]
async fn trips(message: &str, trips: bool, tx: Tx<'_>) -> Result<(), ChargeError> {
    write(tx, message).await?;
    assert!(!trips, "on purpose");
    Ok(())
}

pub(crate) async fn after_a_panic_nothing_is_remembered_even_if_the_caller_commits(scene: &Scene) {
    let mut tx = scene.begin().await;
    let trip = AssertUnwindSafe(trips("a", true, &mut tx)).catch_unwind().await;
    assert_eq!(trip.unwrap_err().downcast_ref(), Some(&"on purpose"));
    tx.commit().await.unwrap();
    // The caller's own decision, against all advice.
    assert_eq!((scene.charges("a").await, scene.records().await), (1, 0));

    let mut tx = scene.begin().await;
    trips("a", false, &mut tx).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((scene.charges("a").await, scene.records().await), (2, 1));
}

pub(crate) async fn after_an_error_nothing_is_remembered_even_if_the_caller_commits(scene: &Scene) {
    let mut tx = scene.begin().await;
    charge("a", End::Badly, &mut tx).await.unwrap_err();
    note("a", End::Badly, &mut tx).await.unwrap_err();
    tx.commit().await.unwrap();
    // The caller's own decision, against all advice.
    assert_eq!((scene.charges("a").await, scene.records().await), (2, 0));

    let mut tx = scene.begin().await;
    assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
}

pub(crate) async fn an_error_worth_remembering_is_remembered_if_the_caller_commits(scene: &Scene) {
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
}

pub(crate) async fn two_handlers_and_one_message_twice_share_a_transaction(scene: &Scene) {
    let mut tx = scene.begin().await;
    assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
    note("a", End::Well, &mut tx).await.unwrap();
    let again = charge("a", End::Well, &mut tx).await.unwrap();
    assert!(matches!(&again, Outcome::Replayed { value, .. } if value == "receipt of msg:a"), "{again:?}");
    // What another session could not see yet.
    assert_eq!(scene.records().await, 0);
    tx.commit().await.unwrap();
    assert_eq!((scene.charges("a").await, scene.records().await), (2, 2));
}

pub(crate) async fn a_savepoint_takes_its_record_with_it(scene: &Scene) {
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
}

pub(crate) async fn a_future_that_is_dropped_midway_leaves_nothing_with_its_transaction(scene: &Scene) {
    let inbox = Inbox::new(Handler::new("tests.dropped"));
    let key = Key::trusted("msg:a", "a test").unwrap();
    let mut tx = scene.begin().await;
    let begun = Notify::new();
    until(&begun, inbox.run(&mut tx, &key, async |_| hung(&begun).await)).await;
    drop(tx);
    // sqlx rolls a dropped transaction back in its own time, and until then the message is in progress.
    let patient = OnDuplicate::Wait(Duration::from_secs(20));
    let inbox = Inbox::new(Handler::new("tests.dropped").on_duplicate(patient));
    let mut tx = scene.begin().await;
    let ran = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap();
    assert!(ran.is_executed());
}

pub(crate) async fn half_a_body_that_was_committed_all_the_same_is_parked(scene: &Scene) {
    let inbox = Inbox::new(Handler::new("tests.committed"));
    let key = Key::trusted("msg:a", "a test").unwrap();
    let mut tx = scene.begin().await;
    let begun = Notify::new();
    until(&begun, inbox.run(&mut tx, &key, async |_| hung(&begun).await)).await;
    tx.commit().await.unwrap();
    let mut tx = scene.begin().await;
    let refused = inbox.run(&mut tx, &key, async |_| Ok::<_, idem::Error>(7)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Lapsed, "{refused}");
}

pub(crate) async fn another_payload_under_a_known_key_is_refused(scene: &Scene, store: &NamedStore) {
    let mut tx = scene.begin().await;
    assert_eq!(elsewhere("a", 1200, &mut tx, store).await.unwrap(), 1200);
    tx.commit().await.unwrap();
    let mut tx = scene.begin().await;
    assert_eq!(elsewhere("a", 1200, &mut tx, store).await.unwrap(), 1200);
    let error = elsewhere("a", 9900, &mut tx, store).await.unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
}

pub(crate) async fn records_of_former_scopes_and_modes_answer(scene: &Scene, store: &NamedStore) {
    assert_eq!(with_a_lease("done before", store).await.unwrap(), 1);
    let mut tx = scene.begin().await;
    assert_eq!(renamed("done before", End::Well, &mut tx, store).await.unwrap(), 1);
    assert_eq!(renamed("new", End::Well, &mut tx, store).await.unwrap(), 2);
    tx.commit().await.unwrap();
    assert_eq!((scene.charges("done before").await, scene.charges("new").await), (0, 1));
    assert_eq!(scene.records().await, 2);
}

pub(crate) async fn handlers_and_inboxes_can_be_spawned(scene: &Scene) {
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
    assert_eq!((scene.charges("a").await, scene.charges("b").await), (1, 1));
}

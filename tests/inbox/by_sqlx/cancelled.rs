//! Futures that are dropped midway: the connection's thread goes on with what it was sent.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use idem::{Handler, Inbox, Key, Outcome};
use sqlx::{Sqlite, SqlitePool, Transaction};

use super::handlers::{charge, patient, write};
use super::run;
use super::scene::{Scene, waiting};
use crate::ends::{ChargeError, End};

/// Polls a future up to this often, and drops it. While it is polled, a connection that heeds the gate runs no statement.
async fn dropped_after<T>(polls: usize, gate: &Mutex<()>, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|cx| {
        if left > 0 {
            left -= 1;
            let _closed = gate.lock().unwrap();
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
        }
        if left == 0 { Poll::Ready(None) } else { Poll::Pending }
    })
    .await
}

/// One connection, so that whatever a dropped one left in it would be found. It heeds the gate.
async fn only_one(scene: &Scene, gate: &Arc<Mutex<()>>) -> SqlitePool {
    let options = super::scene::options(&scene.file.path);
    let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
    let pool = pool.connect_with(options).await.unwrap();
    let gate = gate.clone();
    pool.acquire().await.unwrap().lock_handle().await.unwrap().set_progress_handler(1, move || {
        drop(gate.lock().unwrap());
        true
    });
    pool
}

/// Drops `handle` at each of its awaits, with its transaction, and says how many these were.
async fn dropped_at_each_await<T>(
    scene: &Scene,
    message: &str,
    handle: impl AsyncFn(&mut Transaction<'static, Sqlite>) -> T,
) -> usize {
    let gate = Arc::default();
    let pool = only_one(scene, &gate).await;
    for polls in 0.. {
        let mut tx = pool.begin().await.unwrap();
        let ended = dropped_after(polls, &gate, handle(&mut tx)).await;
        drop(tx);
        // Whoever has the connection next finds it outside of any transaction: this would fail within one.
        pool.begin_with("begin immediate").await.unwrap().commit().await.unwrap();
        assert_eq!(scene.found(message), (0, 0), "after {polls} polls");
        if ended.is_some() {
            return polls - 1;
        }
    }
    unreachable!("it ends at some time")
}

#[test]
fn a_handler_that_is_dropped_at_any_await_leaves_nothing_with_its_transaction() {
    let scene = Scene::new();
    run(async {
        // An entry and a row; then the result, or a look at the record and what is written over it.
        for (end, awaits) in [(End::Well, 3), (End::Badly, 4), (End::Finally, 4)] {
            let dropped = dropped_at_each_await(&scene, "a", async |tx| charge("a", end, tx).await).await;
            assert!(dropped >= awaits, "{dropped}");
        }
        let mut tx = scene.begin().await;
        assert!(charge("a", End::Well, &mut tx).await.unwrap().is_executed());
        tx.commit().await.unwrap();
        assert_eq!(scene.found("a"), (1, 1));
    });
}

/// Giving up is several statements.
#[test]
fn one_whose_transaction_is_lost_leaves_nothing_wherever_it_is_dropped() {
    let scene = Scene::new();
    run(async {
        let refuse = "create trigger no before update on idem_record begin select raise(abort, 'no'); end";
        scene.file.open().execute_batch(refuse).unwrap();
        let dropped = dropped_at_each_await(&scene, "a", async |tx| charge("a", End::Well, tx).await).await;
        // Those of any handler, the name of the file, the end of the transaction and a new begin.
        assert!(dropped >= 6, "{dropped}");
    });
}

#[test]
fn one_that_is_dropped_while_it_waits_for_the_lock_leaves_nothing_either() {
    let scene = Scene::new();
    run(async {
        let gate = Arc::default();
        let pool = only_one(&scene, &gate).await;
        for round in 1..4 {
            let mut first = scene.begin().await;
            write(&mut first, "other work").await.unwrap();
            let mut second = pool.begin().await.unwrap();
            let ended = dropped_after(1, &gate, charge("a", End::Well, &mut second)).await;
            assert!(ended.is_none());
            drop(second);
            first.commit().await.unwrap();
            pool.begin_with("begin immediate").await.unwrap().commit().await.unwrap();
            assert_eq!(scene.found("a"), (0, 0));
            assert_eq!(scene.file.charges("other work"), round);
        }
        // Nor one that tries again and again.
        let hurried = waiting(&scene.file.path, Duration::ZERO);
        let mut first = scene.begin().await;
        write(&mut first, "other work").await.unwrap();
        let mut second = hurried.begin().await.unwrap();
        assert!(dropped_after(4, &gate, patient("a", &mut second)).await.is_none());
        drop(second);
        first.commit().await.unwrap();
        hurried.close().await;
        assert_eq!(scene.found("a"), (0, 0));
    });
}

/// The reply is lost with the future: the commit happened, or it did not, and the record says which.
#[test]
fn after_a_commit_that_nobody_waited_for_the_record_tells_whether_it_happened() {
    let scene = Scene::new();
    run(async {
        let gate = Arc::default();
        let pool = only_one(&scene, &gate).await;
        for polls in 0..4 {
            let message = format!("{polls} polls");
            let mut tx = pool.begin().await.unwrap();
            charge(&message, End::Well, &mut tx).await.unwrap();
            let _ = dropped_after(polls, &gate, tx.commit()).await;
            let mut tx = pool.begin().await.unwrap();
            let again: Outcome<String> = charge(&message, End::Well, &mut tx).await.unwrap();
            tx.commit().await.unwrap();
            assert_eq!(again.is_executed(), polls == 0, "{again:?}");
            assert_eq!(scene.file.charges(&message), 1, "{message}");
        }
    });
}

/// What deferred constraints refuse, they refuse at the commit.
#[test]
fn a_commit_that_fails_leaves_neither_a_row_nor_a_record() {
    let scene = Scene::new();
    run(async {
        let tables = "create table account (id integer primary key);
             create table entry (account integer references account deferrable initially deferred)";
        scene.file.open().execute_batch(tables).unwrap();
        let inbox = Inbox::new(Handler::new("tests.deferred"));
        let key = Key::trusted("msg:a", "a test").unwrap();
        let deliver = async || {
            let mut tx = scene.begin().await;
            let ran = inbox.run(&mut tx, &key, async |tx| {
                sqlx::query("insert into entry values (7)").execute(&mut **tx).await?;
                write(tx, "a").await?;
                Ok::<_, ChargeError>(7)
            });
            assert!(ran.await.unwrap().is_executed());
            tx.commit().await
        };
        assert!(deliver().await.is_err());
        assert_eq!(scene.found("a"), (0, 0));
        scene.file.open().execute_batch("insert into account values (7)").unwrap();
        deliver().await.unwrap();
        assert_eq!(scene.found("a"), (1, 1));
    });
}

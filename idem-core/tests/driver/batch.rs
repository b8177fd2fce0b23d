//! Many messages at once: what goes in one round trip, and what each message gets.

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use idem_core::{Error, ErrorKind, Handler, Idempotent, Key, Outcome};

use crate::model::{Fault, Gate, ModelStore};

mod any;
mod dropped;
mod endings;
mod lost;
mod threads;
mod twins;
mod waiting;

const LEASE: Duration = Duration::from_secs(30);

fn key(n: usize) -> Key {
    Key::trusted(format!("msg:{n}"), "a test's").unwrap()
}

fn work(store: &ModelStore) -> Idempotent {
    Idempotent::new(store, Handler::new("tests.batch").lease(LEASE))
}

fn entries(count: usize) -> impl Iterator<Item = (Key, usize)> {
    (0..count).map(|n| (key(n), n))
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls until it has ended, or nothing can go on by itself.
fn settle<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    for _ in 0..50 {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return Poll::Ready(output);
        }
    }
    Poll::Pending
}

/// Polls to the end, without letting time pass.
fn now<F: Future>(future: F) -> F::Output {
    match settle(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the batch waits"),
    }
}

/// Polls to the end, and lets time pass when nothing else happens.
fn in_time<F: Future>(store: &ModelStore, future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..200 {
        if let Poll::Ready(output) = settle(future.as_mut()) {
            return output;
        }
        store.time().advance(Duration::from_millis(10));
    }
    panic!("the batch does not end");
}

fn executed<T>(value: T) -> Outcome<T> {
    Outcome::Executed { value, recorded: true }
}

fn kind<T: std::fmt::Debug>(result: &Result<T, Error>) -> ErrorKind {
    result.as_ref().unwrap_err().kind()
}

async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn quick_bodies_take_one_round_trip_to_claim_and_one_to_record() {
    for limit in [1, 7, 100] {
        let store = ModelStore::new();
        let results = now(work(&store).run_batch(entries(100), limit, |n| async move { Ok::<_, Error>(n) }));
        for (n, result) in results.into_iter().enumerate() {
            assert_eq!(result.unwrap(), executed(n));
        }
        assert_eq!((store.count("claim_many"), store.count("end_many")), (1, 1), "at most {limit} at once");
        assert_eq!((store.count("claim"), store.count("complete"), store.log().len()), (100, 100, 202));
    }
}

#[test]
fn a_batch_delivered_again_is_replayed_with_one_round_trip() {
    let store = ModelStore::new();
    now(work(&store).run_batch(entries(20), 4, |n| async move { Ok::<_, Error>(n) }));
    let ran = Cell::new(0);
    let again = now(work(&store).run_batch(entries(25), 4, |n| {
        ran.set(ran.get() + 1);
        async move { Ok::<_, Error>(n + 1_000) }
    }));
    for (n, result) in again.into_iter().enumerate() {
        let outcome = result.unwrap();
        assert_eq!(
            (outcome.is_executed(), outcome.into_value()),
            (n >= 20, if n < 20 { n } else { n + 1_000 })
        );
    }
    assert_eq!((ran.get(), store.count("claim_many"), store.count("end_many")), (5, 2, 2));
}

#[test]
fn an_empty_batch_asks_nobody() {
    let store = ModelStore::new();
    assert!(now(work(&store).run_batch(entries(0), 4, |n| async move { Ok::<_, Error>(n) })).is_empty());
    assert!(store.log().is_empty());
}

#[test]
fn no_more_bodies_run_at_once_than_allowed_and_in_the_order_of_the_batch() {
    for (limit, most) in [(0, 1), (1, 1), (3, 3), (50, 20)] {
        let store = ModelStore::new();
        let (at_once, seen, order) = (Cell::new(0), Cell::new(0), RefCell::new(Vec::new()));
        let (at_once, seen, order) = (&at_once, &seen, &order);
        let body = |n| async move {
            order.borrow_mut().push(n);
            at_once.set(at_once.get() + 1);
            seen.set(at_once.get().max(seen.get()));
            yield_once().await;
            at_once.set(at_once.get() - 1);
            Ok::<_, Error>(n)
        };
        let results = now(work(&store).run_batch(entries(20), limit, body));
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(seen.get(), most);
        assert_eq!(*order.borrow(), (0..20).collect::<Vec<_>>());
        assert_eq!(store.count("claim_many"), 1, "all are claimed before the first body begins");
    }
}

#[test]
fn a_message_without_a_key_is_its_own_error() {
    let store = ModelStore::new();
    let entries = (0..5).map(|n| {
        let key = Key::trusted(if n == 2 { "not a key".to_owned() } else { format!("msg:{n}") }, "a test's");
        (key, n)
    });
    let results = now(work(&store).run_batch(entries, 5, |n| async move { Ok::<_, Error>(n) }));
    for (n, result) in results.iter().enumerate() {
        match n {
            2 => {
                assert_eq!(kind(result), ErrorKind::InvalidKey);
                assert_eq!(result.as_ref().unwrap_err().scope(), Some("tests.batch"));
            }
            n => assert_eq!(*result.as_ref().unwrap(), executed(n)),
        }
    }
    assert_eq!(store.count("claim"), 4);
}

#[test]
fn a_message_that_another_worker_holds_is_its_own_error() {
    let store = ModelStore::new();
    let (elsewhere, held) = (work(&store), key(1));
    let mut elsewhere = pin!(elsewhere.run(&held, std::future::pending::<Result<usize, Error>>));
    assert!(poll(elsewhere.as_mut()).is_pending());
    let results = now(work(&store).run_batch(entries(3), 3, |n| async move { Ok::<_, Error>(n) }));
    assert_eq!(kind(&results[1]), ErrorKind::InProgress);
    assert_eq!(*results[0].as_ref().unwrap(), executed(0));
    assert_eq!(*results[2].as_ref().unwrap(), executed(2));
}

#[test]
fn one_message_needs_no_batch_at_its_store() {
    let store = ModelStore::new();
    now(work(&store).run_batch(entries(1), 1, |n| async move { Ok::<_, Error>(n) }));
    assert_eq!(store.log(), ["claim", "complete"]);
}

#[test]
fn calls_on_two_stores_gather_for_each() {
    let (one, other) = (ModelStore::new(), ModelStore::new());
    let (on_one, on_other) = (work(&one), work(&other));
    let calls = (0..10).map(|n| {
        let work = if n % 2 == 0 { &on_one } else { &on_other };
        async move { work.run(&key(n), || async move { Ok::<_, Error>(n) }).await }
    });
    let results = now(idem_core::batch(calls, 3));
    assert!(results.iter().enumerate().all(|(n, result)| *result.as_ref().unwrap() == executed(n)));
    for store in [&one, &other] {
        assert_eq!((store.count("claim_many"), store.count("end_many"), store.count("claim")), (1, 1, 5));
    }
}

#[test]
fn handles_to_one_store_gather_though_each_is_another() {
    let store = ModelStore::new();
    let calls = (0..10).map(|n| {
        let work = work(&store);
        async move { work.run(&key(n), || async move { Ok::<_, Error>(n) }).await }
    });
    now(idem_core::batch(calls, 3));
    assert_eq!((store.count("claim_many"), store.count("end_many")), (1, 1));
}

#[test]
fn handlers_that_a_body_calls_are_no_part_of_the_batch() {
    let store = ModelStore::new();
    let (outer, inner) = (work(&store), Idempotent::new(&store, Handler::new("tests.batch.inner")));
    let inner = &inner;
    // With one turn: if the inner call waited for another, it would wait for its own caller.
    let results = now(outer.run_batch(entries(4), 1, |n| async move {
        yield_once().await;
        inner.run(&key(n), || async move { Ok::<_, Error>(n) }).await.map(Outcome::into_value)
    }));
    assert!(results.iter().all(Result::is_ok));
    assert_eq!((store.count("claim_many"), store.count("claim")), (1, 8));
}

#[test]
fn what_a_call_does_around_its_handler_goes_on_beside_the_others() {
    let store = ModelStore::new();
    let (work, slow, settled) = (work(&store), Gate::default(), RefCell::new(Vec::new()));
    let (work, slow, settled) = (&work, &slow, &settled);
    let calls = (0..3).map(|n| async move {
        yield_once().await; // as if it were decoded
        let key = key(n);
        let result = work.run(&key, || async move {
            if n == 1 {
                slow.clone().await;
            }
            Ok::<_, Error>(n)
        });
        let result = result.await;
        settled.borrow_mut().push(n); // as if it were acknowledged
        result.unwrap().into_value()
    });
    let mut batch = pin!(idem_core::batch(calls, 3));
    assert!(settle(batch.as_mut()).is_pending());
    assert_eq!(*settled.borrow(), [0, 2], "each as soon as it is recorded");
    slow.open();
    assert_eq!(now(batch), [0, 1, 2]);
}

#[test]
fn a_batch_that_waits_wakes_nobody() {
    struct Counted(AtomicUsize);
    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let store = ModelStore::new();
    let (work, gate, woken) = (work(&store), Gate::default(), Arc::new(Counted(AtomicUsize::new(0))));
    let (waker, granted) = (Waker::from(woken.clone()), Gate::default());
    store.next("claim_many", Fault::AnsweredLater(granted.clone()));
    let gate = &gate;
    let mut batch: Pin<Box<dyn Future<Output = Vec<Result<Outcome<usize>, Error>>>>> =
        Box::pin(work.run_batch(entries(8), 4, |n| async move {
            if n > 1 {
                gate.clone().await;
            }
            Ok::<_, Error>(n)
        }));
    let mut poll_while_woken = || {
        for polls in 1.. {
            let before = woken.0.load(Ordering::Relaxed);
            let polled = batch.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() || woken.0.load(Ordering::Relaxed) == before {
                return (polls, polled.is_ready());
            }
        }
        unreachable!("it is polled until it waits")
    };
    // One poll asks. One hears what is granted, one runs it, and one hears that it is recorded.
    assert_eq!(poll_while_woken(), (1, false));
    granted.open();
    assert_eq!(poll_while_woken(), (3, false));
    gate.open();
    assert!(poll_while_woken().1);
}

#[test]
fn a_batch_can_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let store = ModelStore::new();
    let work = work(&store);
    let batch = work.run_batch(entries(2), 2, |n| async move { Ok::<_, Error>(n) });
    assert_send(&batch);
    assert_eq!(now(batch).len(), 2);
    // And what is not `Send` is none.
    let local = Rc::new(7);
    let body = |n| {
        let local = local.clone();
        async move { Ok::<_, Error>(n + *local) }
    };
    assert_eq!(now(work.run_batch(entries(3), 2, body)).len(), 3);
}

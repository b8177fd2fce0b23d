//! Dropped at every await; see the table in `run.rs`.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use idem_core::machine::{Prior, State, StateKind};
use idem_core::{Error, ErrorKind, Handler, Idempotent, Mode, Outcome};

use crate::async_driver::key;
use crate::model::{Fault, Gate, ModelStore};

fn work(store: &ModelStore) -> Idempotent {
    Idempotent::new(store, Handler::new("tests.cancellation"))
}

/// A handler that awaits the claim, the body twice, and the completion, each until its gate opens.
struct Gates {
    claim: Gate,
    body: [Gate; 2],
    complete: Gate,
}

fn gated(store: &ModelStore) -> (Gates, Pin<Box<dyn Future<Output = Result<Outcome<u32>, Error>>>>) {
    let gates =
        Gates { claim: Gate::default(), body: [Gate::default(), Gate::default()], complete: Gate::default() };
    store.next("claim", Fault::AnsweredLater(gates.claim.clone()));
    store.next("complete", Fault::AnsweredLater(gates.complete.clone()));
    let [first, second] = gates.body.clone();
    let work = work(store);
    let call = async move {
        let key = key();
        work.run(&key, || async move {
            first.await;
            second.await;
            Ok::<_, Error>(7)
        })
        .await
    };
    (gates, Box::pin(call))
}

fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn dropped_before_the_first_poll_nothing_happened() {
    let store = ModelStore::new();
    let (_, call) = gated(&store);
    drop(call);
    assert!(store.log().is_empty());
}

// F33
#[test]
fn dropped_while_the_claim_is_under_way_it_is_given_back() {
    let store = ModelStore::new();
    let (gates, mut call) = gated(&store);
    assert!(poll(&mut call).is_pending());
    drop(call);
    assert_eq!(store.run_spawned(), 1, "the answer is still awaited");
    gates.claim.open();
    assert_eq!(store.run_spawned(), 0);
    assert_eq!(store.record().state.kind(), StateKind::Open);
    assert_eq!(store.log(), ["claim", "release"]);
}

// F33
#[test]
fn dropped_while_an_unanswered_claim_waits_to_be_sent_again_it_is_given_back() {
    let store = ModelStore::new();
    store.next("claim", Fault::LostAfter);
    let (work, key) = (work(&store), key());
    let mut call = Box::pin(work.run(&key, || async { Ok::<u32, Error>(7) }));
    assert!(poll(&mut call).is_pending());
    assert_eq!(store.record().state.kind(), StateKind::Held, "granted, but nobody knows");
    drop(call);
    assert_eq!(store.run_spawned(), 0);
    assert_eq!(store.record().state.kind(), StateKind::Open);
}

// F24
#[test]
fn a_claim_that_was_granted_to_nobody_is_not_lost_at_most_once() {
    let store = ModelStore::new();
    for fault in [Fault::LostAfter, Fault::LostBefore, Fault::LostBefore] {
        store.next("claim", fault);
    }
    let once = || Idempotent::new(&store, Handler::new("tests.cancellation").mode(Mode::AtMostOnce));
    let (work, key) = (once(), key());
    let mut call = Box::pin(work.run(&key, || async { Ok::<u32, Error>(7) }));
    let given_up = loop {
        match poll(&mut call) {
            Poll::Ready(outcome) => break outcome.unwrap_err(),
            Poll::Pending => store.time().advance(Duration::from_millis(10)),
        }
    };
    assert_eq!(given_up.kind(), ErrorKind::Unavailable);
    assert_eq!(store.run_spawned(), 0);
    assert!(once().run_blocking(&key, || Ok::<_, Error>(8)).unwrap().is_executed());
}

// F31
#[test]
fn dropped_while_the_body_runs_the_claim_stays_until_its_lease_ends() {
    for opened in 0..2 {
        let store = ModelStore::new();
        let (gates, mut call) = gated(&store);
        gates.claim.open();
        if opened == 1 {
            gates.body[0].open();
        }
        assert!(poll(&mut call).is_pending());
        drop(call);
        assert_eq!(store.run_spawned(), 0);
        store.time().advance(Duration::from_secs(29));
        assert_eq!(store.log(), ["claim"], "no release, no completion, no renewal");
        assert_eq!(store.record().state.kind(), StateKind::Held);
        store.time().advance(Duration::from_secs(1));
        gates.complete.open();
        let again = work(&store).run_blocking(&key(), || Ok::<_, Error>(8)).unwrap();
        assert!(again.is_executed());
    }
}

#[test]
fn the_attempt_after_a_dropped_one_knows_that_it_lapsed() {
    let store = ModelStore::new();
    let (gates, mut call) = gated(&store);
    gates.claim.open();
    assert!(poll(&mut call).is_pending());
    drop(call);
    store.time().advance(Duration::from_secs(30));
    let key = key();
    let next = work(&store);
    let mut next = Box::pin(next.run(&key, std::future::pending::<Result<u32, Error>>));
    assert!(poll(&mut next).is_pending());
    assert!(matches!(store.record().state, State::Held { prior: Prior::Lapsed, .. }));
}

// F32
#[test]
fn dropped_after_the_body_the_completion_goes_on() {
    let store = ModelStore::new();
    let (gates, mut call) = gated(&store);
    gates.claim.open();
    gates.body.iter().for_each(Gate::open);
    // The completion was applied, but its answer waits: as if it were still on its way.
    assert!(poll(&mut call).is_pending());
    drop(call);
    gates.complete.open();
    assert_eq!(store.run_spawned(), 0);
    let again = work(&store).run_blocking(&key(), || Ok::<_, Error>(8)).unwrap();
    assert_eq!(again.into_value(), 7);
}

#[test]
fn a_completion_that_never_arrived_is_repeated_without_the_caller() {
    let store = ModelStore::new();
    store.next("complete", Fault::LostBefore);
    let key = key();
    let work = work(&store);
    let mut call = Box::pin(work.run(&key, || async { Ok::<_, Error>(7) }));
    assert!(poll(&mut call).is_pending());
    drop(call);
    assert_eq!(store.record().state.kind(), StateKind::Held);
    store.run_spawned();
    store.time().advance(Duration::from_secs(1));
    assert_eq!(store.run_spawned(), 0);
    assert_eq!(store.record().state.kind(), StateKind::Done);
}

// F30
#[test]
fn a_panicking_body_gives_the_claim_back_before_and_after_an_await() {
    for awaits in [false, true] {
        let store = ModelStore::new();
        let (work, key, gate) = (work(&store), key(), Gate::default());
        let opened = gate.clone();
        let mut call = Box::pin(work.run(&key, || async move {
            if awaits {
                opened.await;
            }
            std::convert::identity::<fn() -> Result<u32, Error>>(|| panic!("boom"))()
        }));
        if awaits {
            assert!(poll(&mut call).is_pending());
            gate.open();
        }
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut call)));
        assert!(panicked.is_err());
        assert_eq!(store.record().state.kind(), StateKind::Open);
        drop(call);
        assert_eq!(store.count("release"), 1);
    }
}

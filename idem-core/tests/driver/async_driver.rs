use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use idem_core::machine::{Prior, State, StateKind};
use idem_core::private::{Call, codec, run};
use idem_core::{
    Disposition, Error, ErrorKind, Handler, Idempotent, Key, Mode, OnDuplicate, OnLapse, Outcome, StoreClass,
    StoreErrorKind, counters,
};

use crate::model::{Fault, Gate, ModelStore};

const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn key() -> Key {
    Key::trusted("msg:1", "a test's only message").unwrap()
}

/// An error of the handler's own.
#[derive(Debug)]
struct Own(#[allow(dead_code, reason = "shown by Debug alone")] &'static str);

impl From<Error> for Own {
    fn from(_: Error) -> Self {
        Self("idem's")
    }
}

fn handler() -> Handler {
    Handler::new("tests.driver").lease(LEASE)
}

fn on(store: &ModelStore, handler: Handler) -> Idempotent {
    Idempotent::new(store, handler)
}

/// Polls to the end; panics if anything has to be waited for.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future waits"),
    }
}

fn poll<F: Future + ?Sized>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

/// Holds the message under a token that never comes back, as a killed worker does.
fn killed_worker(store: &ModelStore, handler: Handler) {
    let work = on(store, handler);
    let key = key();
    let mut attempt = Box::pin(work.run(&key, std::future::pending::<Result<u32, Error>>));
    assert!(poll(attempt.as_mut()).is_pending());
}

#[test]
fn the_first_result_is_replayed() {
    let store = ModelStore::new();
    let first = now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(7) })).unwrap();
    assert_eq!(first, Outcome::Executed { value: 7, recorded: true });
    store.time().advance(Duration::from_secs(9));
    let again = now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(8) })).unwrap();
    assert_eq!(again, Outcome::Replayed { value: 7, age: Duration::from_secs(9) });
}

#[test]
fn an_error_gives_the_claim_back_and_the_next_delivery_runs_at_once() {
    let store = ModelStore::new();
    let failed = now(on(&store, handler()).run(&key(), || async { Err::<u32, _>(Own("declined")) }));
    assert!(failed.is_err());
    assert_eq!(store.record().state.kind(), StateKind::Open);
    let again = now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(8) })).unwrap();
    assert!(again.is_executed());
    assert_eq!(store.record().tries, 2);
}

#[test]
fn an_error_under_park_or_at_most_once_keeps_the_claim_for_its_lease() {
    for handler in
        [|| handler().on_lapse(OnLapse::Park), || handler().mode(Mode::AtMostOnce)] as [fn() -> Handler; 2]
    {
        let store = ModelStore::new();
        let failed = now(on(&store, handler()).run(&key(), || async { Err::<u32, _>(Own("timeout")) }));
        assert!(failed.is_err());
        assert_eq!(store.record().state.kind(), StateKind::Held);
        assert_eq!(store.count("release"), 0);
    }
}

#[test]
fn a_duplicate_of_a_running_message_is_told_how_long_to_wait() {
    let store = ModelStore::new();
    killed_worker(&store, handler());
    store.time().advance(Duration::from_secs(10));
    let error = now(on(&store, handler()).run(&key(), || async { Ok::<u32, Error>(8) })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InProgress);
    assert_eq!(error.disposition(), Disposition::RetryAfter(Duration::from_secs(20)));
    assert_eq!(error.scope(), Some("tests.driver"));
}

#[test]
fn a_lapsed_message_is_run_again_with_a_higher_fence() {
    let store = ModelStore::new();
    killed_worker(&store, handler());
    let before = store.record().fence;
    store.time().advance(LEASE);
    let again = now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(8) })).unwrap();
    assert!(again.is_executed());
    assert!(store.record().fence > before);
}

#[test]
fn a_lapsed_message_is_parked_on_request() {
    let store = ModelStore::new();
    killed_worker(&store, handler().on_lapse(OnLapse::Park));
    store.time().advance(LEASE);
    let again =
        now(on(&store, handler().on_lapse(OnLapse::Park)).run(&key(), || async { Ok::<u32, Error>(8) }));
    let error = again.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lapsed);
    assert!(matches!(error.disposition(), Disposition::Park(_)));
}

// F19
#[test]
fn at_most_once_loses_a_killed_workers_message_and_counts_it() {
    let store = ModelStore::new();
    killed_worker(&store, handler().mode(Mode::AtMostOnce));
    store.time().advance(LEASE);
    let before = counters().lost;
    let again =
        now(on(&store, handler().mode(Mode::AtMostOnce)).run(&key(), || async { Ok::<u32, Error>(8) }));
    let error = again.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lost);
    assert_eq!(error.disposition(), Disposition::Ack);
    assert!(counters().lost > before);
}

#[test]
fn a_message_is_parked_when_its_tries_are_spent() {
    let store = ModelStore::new();
    for _ in 0..3 {
        let work = on(&store, handler().max_tries(3));
        assert!(now(work.run(&key(), || async { Err::<u32, _>(Own("no")) })).is_err());
    }
    let spent = now(on(&store, handler().max_tries(3)).run(&key(), || async { Ok::<u32, Error>(1) }));
    assert_eq!(kind(spent), ErrorKind::Spent);
}

// F62
#[test]
fn another_payload_under_one_key_is_refused_even_while_the_first_runs() {
    let store = ModelStore::new();
    let work = on(&store, handler()).payload(&1200);
    let key = key();
    let mut first = Box::pin(work.run(&key, std::future::pending::<Result<u32, Error>>));
    assert!(poll(first.as_mut()).is_pending());
    let other = now(on(&store, handler()).payload(&450).run(&key, || async { Ok::<u32, Error>(8) }));
    assert_eq!(kind(other), ErrorKind::Mismatch);
    let same = now(on(&store, handler()).payload(&1200).run(&key, || async { Ok::<u32, Error>(8) }));
    assert_eq!(kind(same), ErrorKind::InProgress);
}

// F02
#[test]
fn a_claim_whose_answer_was_lost_is_granted_at_once_when_sent_again() {
    let store = ModelStore::new();
    store.next("claim", Fault::LostAfter);
    let (work, key) = (on(&store, handler()), key());
    let mut call = Box::pin(work.run(&key, || async { Ok::<_, Error>(7) }));
    assert!(poll(call.as_mut()).is_pending(), "it pauses before it asks again");
    store.time().advance(Duration::from_secs(1));
    let Poll::Ready(outcome) = poll(call.as_mut()) else { panic!("still waiting") };
    assert_eq!(outcome.unwrap(), Outcome::Executed { value: 7, recorded: true });
    assert_eq!(store.record().tries, 1);
    assert_eq!(store.log(), ["claim", "claim", "complete"]);
}

// F24
#[test]
fn a_store_that_is_down_is_an_error_and_never_a_verdict() {
    let store = ModelStore::new();
    for _ in 0..3 {
        store.next("claim", Fault::LostBefore);
    }
    let (work, key, runs) = (on(&store, handler()), key(), AtomicU32::new(0));
    let mut call = Box::pin(work.run(&key, || async {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok::<u32, Error>(7)
    }));
    let error = loop {
        match poll(call.as_mut()) {
            Poll::Ready(outcome) => break outcome.unwrap_err(),
            Poll::Pending => store.time().advance(Duration::from_secs(1)),
        }
    };
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(matches!(error.disposition(), Disposition::RetryAfter(_)));
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    assert!(error.to_string().contains("the model store did not answer"), "{error}");
}

#[test]
fn a_store_that_is_broken_is_not_asked_again() {
    let store = ModelStore::new();
    store.next("claim", Fault::Broken(StoreErrorKind::Corrupt));
    let error = now(on(&store, handler()).run(&key(), || async { Ok::<u32, Error>(7) })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(store.log().is_empty());
}

// F22
#[test]
fn a_completion_whose_answer_was_lost_is_sent_again_and_stored_once() {
    let store = ModelStore::new();
    store.next("complete", Fault::LostAfter);
    let (work, key) = (on(&store, handler()), key());
    let mut call = Box::pin(work.run(&key, || async { Ok::<_, Error>(7) }));
    assert!(poll(call.as_mut()).is_pending());
    store.time().advance(Duration::from_secs(1));
    let Poll::Ready(outcome) = poll(call.as_mut()) else { panic!("still waiting") };
    assert_eq!(outcome.unwrap(), Outcome::Executed { value: 7, recorded: true });
    assert_eq!(store.log(), ["claim", "complete", "complete"]);
}

// F23
#[test]
fn a_success_that_the_store_never_hears_of_is_a_success_all_the_same() {
    let store = ModelStore::new();
    for _ in 0..100 {
        store.next("complete", Fault::LostBefore);
    }
    let before = counters().unrecorded;
    let (work, key) = (on(&store, handler()), key());
    let mut call = Box::pin(work.run(&key, || async { Ok::<_, Error>(7) }));
    let began = store.time().now();
    let outcome = loop {
        match poll(call.as_mut()) {
            Poll::Ready(outcome) => break outcome,
            Poll::Pending => store.time().advance(Duration::from_millis(500)),
        }
    };
    assert_eq!(outcome.unwrap(), Outcome::Executed { value: 7, recorded: false });
    let patience = store.time().now().since(began);
    assert!(patience >= LEASE && patience < LEASE * 2, "{patience:?}");
    assert!(counters().unrecorded > before);
}

// F23
#[test]
fn while_a_success_is_sent_again_no_other_attempt_runs() {
    let store = ModelStore::of_class(StoreClass::Volatile);
    (0..4).for_each(|_| store.next("complete", Fault::LostBefore));
    let (work, key, time) = (on(&store, handler()), key(), store.clone());
    let mut call = Box::pin(work.run(&key, || async move {
        // Without an await, so that no renewal was due before the end.
        time.time().advance(LEASE.checked_sub(Duration::from_millis(50)).unwrap());
        Ok::<_, Error>(7)
    }));
    assert!(poll(call.as_mut()).is_pending());
    let mut slept = Duration::ZERO;
    while poll(call.as_mut()).is_pending() {
        let other = now(on(&store, handler()).run(&key, || async { Ok::<u32, Error>(8) }));
        assert_eq!(kind(other), ErrorKind::InProgress, "after {slept:?}");
        store.time().advance(Duration::from_millis(10));
        slept += Duration::from_millis(10);
    }
    assert!(slept > Duration::from_millis(50), "longer than what was left: {slept:?}");
    assert_eq!(store.record().state.kind(), StateKind::Done);
}

#[test]
fn a_grant_that_arrives_after_its_lease_is_asked_for_again() {
    for taken_over in [false, true] {
        let (store, gate) = (ModelStore::new(), Gate::default());
        store.next("claim", Fault::AnsweredLater(gate.clone()));
        let (work, key) = (on(&store, handler()), key());
        let mut late = Box::pin(work.run(&key, || async { Ok::<u32, Error>(7) }));
        assert!(poll(late.as_mut()).is_pending());
        store.time().advance(LEASE);
        if taken_over {
            killed_worker(&store, handler());
        }
        gate.open();
        let Poll::Ready(outcome) = poll(late.as_mut()) else { panic!("still waiting") };
        if taken_over {
            assert_eq!(kind(outcome), ErrorKind::InProgress);
        } else {
            assert_eq!(outcome.unwrap(), Outcome::Executed { value: 7, recorded: true });
            assert_eq!(store.record().tries, 1);
        }
    }
}

#[test]
fn a_completion_that_a_broken_store_refuses_is_not_repeated() {
    let store = ModelStore::new();
    store.next("complete", Fault::Broken(StoreErrorKind::ReadOnly));
    let outcome = now(async { on(&store, handler()).run(&key(), || async { Ok::<_, Error>(7) }).await });
    assert_eq!(outcome.unwrap(), Outcome::Executed { value: 7, recorded: false });
}

// F05
#[test]
fn a_stale_owner_does_not_overwrite_its_successor() {
    let store = ModelStore::new();
    let (work, key, gate) = (on(&store, handler()), key(), Gate::default());
    let opened = gate.clone();
    let mut stale = Box::pin(work.run(&key, || async {
        opened.await;
        Ok::<_, Error>(1)
    }));
    assert!(poll(stale.as_mut()).is_pending());
    // Frozen: no renewal arrives, and the lease runs out.
    store.next("renew", Fault::LostBefore);
    store.change(|record| record.state = State::Held { lease_at: store.time().now(), prior: Prior::None });
    let newer = now(on(&store, handler()).run(&key, || async { Ok::<_, Error>(2) })).unwrap();
    assert_eq!(newer, Outcome::Executed { value: 2, recorded: true });
    let before = counters().superseded;
    gate.open();
    let Poll::Ready(outcome) = poll(stale.as_mut()) else { panic!("still waiting") };
    assert_eq!(outcome.unwrap(), Outcome::Executed { value: 1, recorded: false });
    assert!(counters().superseded > before);
    let replay = now(on(&store, handler()).run(&key, || async { Ok::<_, Error>(3) })).unwrap();
    assert_eq!(replay.into_value(), 2);
}

// I9
#[test]
fn a_success_whose_record_vanished_is_recorded_anew() {
    let store = ModelStore::new();
    let wiped = store.clone();
    let first = now(on(&store, handler()).run(&key(), || async move {
        wiped.clear();
        Ok::<_, Error>(7)
    }));
    assert_eq!(first.unwrap(), Outcome::Executed { value: 7, recorded: true });
    assert_eq!(store.record().state.kind(), StateKind::Done);
}

// F08, F15
#[test]
fn a_lease_is_renewed_while_the_body_runs_and_no_longer_than_max_hold() {
    let store = ModelStore::new();
    let (work, key) = (on(&store, handler().max_hold(Duration::from_secs(300))), key());
    let mut hung = Box::pin(work.run(&key, std::future::pending::<Result<u32, Error>>));
    assert!(poll(hung.as_mut()).is_pending());
    store.time().advance(Duration::from_secs(200));
    let renewals = store.count("renew");
    assert!((19..=23).contains(&renewals), "{renewals}");
    let busy = now(on(&store, handler()).run(&key, || async { Ok::<u32, Error>(8) }));
    assert_eq!(kind(busy), ErrorKind::InProgress);
    // It hangs past max_hold: renewals stop, and the next delivery takes over.
    store.time().advance(Duration::from_secs(300));
    let taken = now(on(&store, handler()).run(&key, || async { Ok::<u32, Error>(8) }));
    assert!(taken.unwrap().is_executed());
}

// F07
#[test]
fn a_body_that_blocks_its_thread_from_the_start_is_not_overtaken() {
    let store = ModelStore::new();
    let (work, key, other) = (on(&store, handler()), key(), store.clone());
    let outcome = now(work.run(&key, || async {
        for _ in 0..10 {
            other.time().advance(LEASE / 2);
            let overtakes = now(on(&other, handler()).run(&key, || async { Ok::<u32, Error>(8) }));
            assert_eq!(kind(overtakes), ErrorKind::InProgress);
        }
        Ok::<_, Error>(7)
    }));
    assert_eq!(outcome.unwrap(), Outcome::Executed { value: 7, recorded: true });
    store.time().advance(LEASE * 10);
    assert!((14..=16).contains(&store.count("renew")), "{}", store.count("renew"));
}

// F07
#[test]
fn a_body_that_blocks_its_first_poll_is_renewed_at_once_where_the_store_ends_with_the_process() {
    let store = ModelStore::of_class(StoreClass::Volatile);
    let (work, key, time) = (on(&store, handler()), key(), store.clone());
    let mut call = Box::pin(work.run(&key, || async move {
        time.time().advance(Duration::from_secs(25));
        std::future::pending::<Result<u32, Error>>().await
    }));
    assert!(poll(call.as_mut()).is_pending());
    store.time().advance(Duration::from_secs(1));
    assert_eq!(store.count("renew"), 1);
}

#[test]
fn renewals_stop_when_the_body_ends() {
    let store = ModelStore::new();
    let (work, key, gate) = (on(&store, handler()), key(), Gate::default());
    let opened = gate.clone();
    let mut call = Box::pin(work.run(&key, || async {
        opened.await;
        Ok::<_, Error>(1)
    }));
    assert!(poll(call.as_mut()).is_pending());
    store.time().advance(Duration::from_secs(25));
    assert_eq!(store.count("renew"), 2);
    gate.open();
    assert!(poll(call.as_mut()).is_ready());
    store.time().advance(Duration::from_secs(600));
    assert_eq!(store.count("renew"), 2);
}

// F07
#[test]
fn an_overtaken_attempt_sees_that_it_has_lost_its_lease() {
    let store = ModelStore::new();
    static HANDLER: Handler = Handler::new("tests.lost").lease(LEASE);
    let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
    call.ask_attempt();
    call.use_store({
        use idem_core::private::ToStoreHandle as _;
        store.idem_store()
    });
    let call = &call;
    let mut body = Box::pin(run(call, codec(), async move {
        let attempt = Call::attempt(call);
        assert!(!attempt.is_lost());
        assert_eq!((attempt.tries(), attempt.prior()), (1, Prior::None));
        attempt.lost().await;
        assert!(attempt.is_lost());
        Ok::<_, Error>(1)
    }));
    assert!(poll(body.as_mut()).is_pending());
    store.change(|record| record.token = idem_core::Token::fresh());
    store.time().advance(Duration::from_secs(11));
    assert!(poll(body.as_mut()).is_ready());
}

#[test]
fn a_lease_that_cannot_be_renewed_is_lost_at_its_end_and_not_before() {
    let store = ModelStore::new();
    for _ in 0..100 {
        store.next("renew", Fault::LostBefore);
    }
    static HANDLER: Handler = Handler::new("tests.unrenewed").lease(LEASE);
    let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
    call.ask_attempt();
    call.use_store({
        use idem_core::private::ToStoreHandle as _;
        store.idem_store()
    });
    let call = &call;
    let mut body = Box::pin(run(call, codec(), async move {
        Call::attempt(call).lost().await;
        Ok::<_, Error>(1)
    }));
    assert!(poll(body.as_mut()).is_pending());
    store.time().advance(LEASE.checked_sub(Duration::from_micros(1)).unwrap());
    assert!(poll(body.as_mut()).is_pending());
    store.time().advance(Duration::from_micros(1));
    assert!(poll(body.as_mut()).is_ready());
}

#[test]
fn a_handler_can_wait_for_the_other_attempts_result() {
    let store = ModelStore::new();
    let (work, key, gate) = (on(&store, handler()), key(), Gate::default());
    let opened = gate.clone();
    let mut first = Box::pin(work.run(&key, || async {
        opened.await;
        Ok::<_, Error>(1)
    }));
    assert!(poll(first.as_mut()).is_pending());
    let waiting = on(&store, handler().on_duplicate(OnDuplicate::Wait(Duration::from_secs(5))));
    let mut second = Box::pin(waiting.run(&key, || async { Ok::<_, Error>(2) }));
    assert!(poll(second.as_mut()).is_pending());
    gate.open();
    assert!(poll(first.as_mut()).is_ready());
    store.time().advance(Duration::from_secs(1));
    let Poll::Ready(outcome) = poll(second.as_mut()) else { panic!("still waiting") };
    assert_eq!(outcome.unwrap().into_value(), 1);
}

#[test]
fn waiting_for_a_duplicate_ends_in_an_error() {
    let store = ModelStore::new();
    killed_worker(&store, handler());
    let waiting = on(&store, handler().on_duplicate(OnDuplicate::Wait(Duration::from_secs(5))));
    let key = key();
    let mut second = Box::pin(waiting.run(&key, || async { Ok::<u32, Error>(2) }));
    let began = store.time().now();
    let outcome = loop {
        match poll(second.as_mut()) {
            Poll::Ready(outcome) => break outcome,
            Poll::Pending => store.time().advance(Duration::from_millis(50)),
        }
    };
    assert_eq!(kind(outcome), ErrorKind::InProgress);
    let waited = store.time().now().since(began);
    assert!(waited >= Duration::from_secs(5) && waited < Duration::from_secs(6), "{waited:?}");
}

#[test]
fn a_stored_result_that_does_not_decode_is_done_and_never_a_rerun() {
    let store = ModelStore::new();
    now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>("text".to_owned()) })).unwrap();
    let runs = AtomicU32::new(0);
    let error = now(on(&store, handler()).run(&key(), || async {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok::<u64, Error>(8)
    }))
    .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreadable);
    assert_eq!(error.disposition(), Disposition::Ack);
    assert!(error.to_string().contains("done, but its result is unreadable"), "{error}");
    assert_eq!(runs.load(Ordering::Relaxed), 0);
}

// F66
#[test]
fn a_result_that_is_too_large_is_done_without_it() {
    let store = ModelStore::new();
    let large = "x".repeat(100_000);
    let first = now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(large.clone()) })).unwrap();
    assert_eq!(first, Outcome::Executed { value: large.clone(), recorded: true });
    let error =
        now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(large.clone()) })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotKept);
    assert_eq!(error.disposition(), Disposition::Ack);
    assert!(error.to_string().contains("100002 bytes"), "{error}");
}

// F63
#[test]
fn after_ttl_the_tombstone_still_says_done() {
    let store = ModelStore::new();
    let day = Duration::from_secs(86_400);
    let handler = || handler().ttl(day).keep(3 * day);
    now(on(&store, handler()).run(&key(), || async { Ok::<_, Error>(7) })).unwrap();
    store.time().advance(day);
    let gone = now(on(&store, handler()).run(&key(), || async { Ok::<u32, Error>(8) }));
    assert_eq!(kind(gone), ErrorKind::NotKept);
    store.time().advance(2 * day);
    let new = now(on(&store, handler()).run(&key(), || async { Ok::<u32, Error>(8) }));
    assert!(new.unwrap().is_executed());
}

// F55, F69
#[test]
fn scopes_and_tenants_keep_records_apart() {
    let store = ModelStore::new();
    let run =
        |work: Idempotent, value: u32| now(work.run(&key(), || async { Ok::<_, Error>(value) })).unwrap();
    assert!(run(on(&store, Handler::new("tests.bill")), 1).is_executed());
    assert!(run(on(&store, Handler::new("tests.mail")), 2).is_executed());
    assert!(run(on(&store, Handler::new("tests.bill")).tenant("t1"), 3).is_executed());
    assert!(run(on(&store, Handler::new("tests.bill")).tenant("t2"), 4).is_executed());
    assert_eq!(run(on(&store, Handler::new("tests.bill")).tenant("t1"), 5).into_value(), 3);
}

#[test]
fn f56_a_record_of_a_former_scope_is_replayed() {
    let store = ModelStore::new();
    now(on(&store, Handler::new("app::billing::charge")).run(&key(), || async { Ok::<_, Error>(1) }))
        .unwrap();
    let renamed = || Handler::new("app::pay::charge").scope_was(&["app::old", "app::billing::charge"]);
    let again = now(on(&store, renamed()).run(&key(), || async { Ok::<_, Error>(2) })).unwrap();
    assert_eq!(again.into_value(), 1);
    let other = Key::trusted("msg:2", "a test's other message").unwrap();
    let fresh = now(on(&store, renamed()).run(&other, || async { Ok::<_, Error>(2) })).unwrap();
    assert!(fresh.is_executed());
    let unsaid = Handler::new("app::pay::charge");
    let forgot = now(on(&store, unsaid).run(&key(), || async { Ok::<_, Error>(3) })).unwrap();
    assert!(forgot.is_executed(), "without `scope_was` it is another handler");
}

#[test]
fn a_duplicate_of_a_former_scopes_running_message_is_waited_for() {
    let store = ModelStore::new();
    let (old, key, gate) = (on(&store, Handler::new("app::old")), key(), Gate::default());
    let opened = gate.clone();
    let mut first = Box::pin(old.run(&key, || async {
        opened.await;
        Ok::<_, Error>(1)
    }));
    assert!(poll(first.as_mut()).is_pending());
    let renamed = || Handler::new("app::new").scope_was(&["app::old", "app::old"]);
    let refused = now(on(&store, renamed()).run(&key, || async { Ok::<u32, Error>(2) }));
    assert_eq!(kind(refused), ErrorKind::InProgress);
    let waits = on(&store, renamed().on_duplicate(OnDuplicate::Wait(Duration::from_secs(5))));
    let mut second = Box::pin(waits.run(&key, || async { Ok::<_, Error>(2) }));
    assert!(poll(second.as_mut()).is_pending());
    gate.open();
    assert!(poll(first.as_mut()).is_ready());
    store.time().advance(Duration::from_secs(1));
    let Poll::Ready(outcome) = poll(second.as_mut()) else { panic!("still waiting") };
    assert_eq!(outcome.unwrap().into_value(), 1);
}

#[test]
fn a_look_at_a_former_scope_that_gets_no_answer_is_repeated() {
    let store = ModelStore::new();
    now(on(&store, Handler::new("app::old")).run(&key(), || async { Ok::<_, Error>(1) })).unwrap();
    store.next("inspect", Fault::LostBefore);
    let (renamed, key) = (on(&store, Handler::new("app::new").scope_was(&["app::old"])), key());
    let mut again = Box::pin(renamed.run(&key, || async { Ok::<_, Error>(2) }));
    assert!(poll(again.as_mut()).is_pending());
    store.time().advance(Duration::from_secs(1));
    let Poll::Ready(outcome) = poll(again.as_mut()) else { panic!("still waiting") };
    assert_eq!(outcome.unwrap().into_value(), 1);
}

#[test]
fn a_lapse_under_a_former_scope_is_told_to_the_next_attempt() {
    let store = ModelStore::new();
    killed_worker(&store, Handler::new("app::old"));
    store.time().advance(LEASE);
    static RENAMED: Handler = Handler::new("app::new").scope_was(&["app::old"]);
    use idem_core::private::ToStoreHandle as _;
    let mut call = Call::derive(&RENAMED, false, |text| text.literal("msg:1"));
    call.ask_attempt();
    call.use_store(store.idem_store());
    let call = &call;
    let told = now(run(call, codec(), async move {
        let attempt = Call::attempt(call);
        assert_eq!((attempt.prior(), attempt.first_age()), (Prior::Lapsed, LEASE));
        Ok::<_, Error>(7)
    }));
    assert_eq!(told.unwrap(), 7);
}

#[test]
fn a_lost_message_is_called_lost_and_not_tried_too_often() {
    let store = ModelStore::new();
    let once = || handler().mode(Mode::AtMostOnce).max_tries(1);
    killed_worker(&store, once());
    store.time().advance(LEASE);
    let lost = now(on(&store, once()).run(&key(), || async { Ok::<u32, Error>(8) }));
    assert_eq!(kind(lost), ErrorKind::Lost);
}

// F39
#[test]
fn a_clock_that_is_set_back_prolongs_neither_waiting_nor_recording() {
    let store = ModelStore::new();
    let back = || {
        store.time().advance(Duration::from_secs(2));
        let hour_ago = store.time().now().as_micros().saturating_sub(3_600_000_000);
        store.time().advance_to(idem_core::Timestamp::from_micros(hour_ago));
    };
    let ends = |mut call: std::pin::Pin<Box<dyn Future<Output = Result<Outcome<u32>, Error>> + '_>>| {
        for _ in 0..2_000 {
            if let Poll::Ready(outcome) = poll(call.as_mut()) {
                return outcome;
            }
            back();
        }
        panic!("it waits for the clock to catch up")
    };
    let key = key();
    store.time().advance(Duration::from_secs(1_000_000));
    let records = on(&store, handler().max_hold(Duration::ZERO));
    (0..2_000).for_each(|_| store.next("complete", Fault::LostBefore));
    let unrecorded = ends(Box::pin(records.run(&key, || async { Ok::<_, Error>(7) })));
    assert_eq!(unrecorded.unwrap(), Outcome::Executed { value: 7, recorded: false });
    let waits = on(&store, handler().on_duplicate(OnDuplicate::Wait(Duration::from_secs(5))));
    let waited = ends(Box::pin(waits.run(&key, || async { Ok::<_, Error>(8) })));
    assert_eq!(kind(waited), ErrorKind::InProgress);
}

/// The store counts a lease from where its clock stands then, so the owner may not count it from where it stood before.
#[test]
fn a_clock_that_is_set_back_hides_no_loss_from_the_owner() {
    for (set_back, by, renewed_at) in [("claim", 3_600, 0), ("renew", 9, 10)] {
        static HANDLER: Handler = Handler::new("tests.set_back").lease(LEASE);
        let store = ModelStore::new();
        store.time().advance(Duration::from_secs(10_000));
        store.next(set_back, Fault::ClockSetBack(Duration::from_secs(by)));
        let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
        call.use_store(idem_core::private::ToStoreHandle::idem_store(&store));
        call.ask_attempt();
        let attempt = || Call::attempt(&call);
        let mut first = Box::pin(run(&call, codec(), std::future::pending::<Result<u32, Error>>()));
        assert!(poll(first.as_mut()).is_pending());
        store.time().advance(Duration::from_secs(renewed_at));
        assert_eq!(store.count("renew"), usize::from(set_back == "renew"));
        assert!(!attempt().is_lost(), "{set_back}");

        (0..100).for_each(|_| store.next("renew", Fault::LostBefore));
        store.time().advance(Duration::from_secs(LEASE.as_secs() + 1 - renewed_at));
        let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
        call.use_store(idem_core::private::ToStoreHandle::idem_store(&store));
        let second = now(run(&call, codec(), async { Ok::<u32, Error>(8) }));
        assert_eq!(second.unwrap(), 8, "{set_back}");
        assert!(attempt().is_lost(), "{set_back}: another attempt has run");
    }
}

#[test]
fn a_clock_that_falls_back_prolongs_no_hold() {
    let store = ModelStore::new();
    store.time().advance(Duration::from_secs(1_000_000));
    (0..10_000).for_each(|_| store.next("renew", Fault::ClockSetBack(Duration::from_secs(9))));
    let (work, key) = (on(&store, handler().max_hold(Duration::from_secs(300))), key());
    let mut hung = Box::pin(work.run(&key, std::future::pending::<Result<u32, Error>>));
    assert!(poll(hung.as_mut()).is_pending());
    for _ in 0..1_000 {
        store.time().advance(Duration::from_secs(1));
    }
    let renewals = store.count("renew");
    assert!((28..=33).contains(&renewals), "{renewals}");
}

#[test]
fn final_errors_are_remembered_and_all_others_are_not() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    enum Charge {
        Declined,
        Timeout,
        Idem(String),
    }
    impl From<Error> for Charge {
        fn from(error: Error) -> Self {
            Self::Idem(error.to_string())
        }
    }
    static HANDLER: Handler = Handler::new("tests.final");
    let store = ModelStore::new();
    let charge = |result: Result<u32, Charge>| {
        use idem_core::private::ToStoreHandle as _;
        let mut call = Call::derive(&HANDLER, false, |text| text.literal("msg:1"));
        call.ask_attempt();
        call.use_store(store.idem_store());
        let codec = codec().final_error(|error: &Charge| *error == Charge::Declined);
        now(run(&call, codec, async move { result }))
    };
    assert_eq!(charge(Err(Charge::Timeout)), Err(Charge::Timeout));
    assert_eq!(store.record().state.kind(), StateKind::Open);
    assert_eq!(charge(Err(Charge::Declined)), Err(Charge::Declined));
    assert_eq!(store.record().state.kind(), StateKind::Failed);
    assert_eq!(charge(Ok(1)), Err(Charge::Declined));
    // An hour later the mistake, if it was one, has healed.
    store.time().advance(Duration::from_secs(3600));
    assert_eq!(charge(Ok(1)), Ok(1));
}

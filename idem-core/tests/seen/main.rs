//! The seen set: what it skips, what it leaves to the store, and what it holds at most.

use std::time::Duration;

use idem_core::machine::{Claim, Completion, End, Forgotten, OnLapse, Recorded, Verdict};
use idem_core::{
    Body, Classed, Error, Fingerprint, Handler, Idempotent, Key, KeyOnly, Outcome, RecordId, SeenSet, Store,
    StoreClass, Token,
};

mod contract;
mod counting;

use counting::{Counting, Slow};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

fn id(n: u64) -> RecordId {
    idem_core::Namespace::new("", "", "seen").record(&n.to_string())
}

const FIRST: Option<Fingerprint> = Some(Fingerprint::from_bytes([1; 16]));
const OTHER: Option<Fingerprint> = Some(Fingerprint::from_bytes([2; 16]));

fn a_claim(n: u64) -> Claim {
    Claim {
        id: id(n),
        token: Token::fresh(),
        fingerprint: FIRST,
        lease: 30 * SECOND,
        keep: 45 * DAY,
        on_lapse: OnLapse::Rerun,
        durable: false,
        max_tries: 5,
    }
}

fn claim(store: &dyn Store, n: u64) -> Verdict {
    store.claim(&a_claim(n)).wait().unwrap()
}

fn a_completion(n: u64, token: Token, body: &[u8]) -> Completion {
    Completion {
        id: id(n),
        token,
        fence: 1,
        fingerprint: FIRST,
        body: Body::copy_from(body),
        ttl: 7 * DAY,
        keep: 45 * DAY,
    }
}

/// Claims, runs and completes; the token of the attempt.
fn run(store: &dyn Store, n: u64, body: &[u8]) -> Token {
    let claim = a_claim(n);
    assert!(matches!(store.claim(&claim).wait().unwrap(), Verdict::Claimed(_)), "{n} is not to be run");
    let recorded = store.complete(&a_completion(n, claim.token, body)).wait().unwrap();
    assert!(matches!(recorded, Recorded::Stored | Recorded::Gone));
    claim.token
}

#[track_caller]
fn skipped(verdict: Verdict) -> Option<Body> {
    match verdict {
        Verdict::Completed { body, skipped: true, .. } => body,
        other => panic!("not skipped: {other:?}"),
    }
}

#[track_caller]
fn replayed(verdict: Verdict) -> Option<Body> {
    match verdict {
        Verdict::Completed { body, skipped: false, .. } => body,
        other => panic!("not replayed: {other:?}"),
    }
}

#[test]
fn a_completed_message_is_skipped_without_asking_the_store() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    run(&seen, 1, b"receipt");
    store.clock().advance(5 * SECOND);
    let Verdict::Completed { body, age, valid_for, skipped } = claim(&seen, 1) else { panic!() };
    assert_eq!(body.as_deref(), Some(b"receipt".as_slice()));
    assert_eq!(age, 5 * SECOND);
    assert_eq!(valid_for, 3595 * SECOND);
    assert!(skipped);
    assert_eq!(store.claims(), 1);
}

#[test]
fn in_front_of_key_only_a_second_call_is_skipped() {
    let seen = SeenSet::new(KeyOnly);
    assert!(matches!(claim(&seen, 1), Verdict::Claimed(_)));
    // Not completed: a claim is nothing to remember.
    run(&seen, 1, b"receipt");
    assert_eq!(skipped(claim(&seen, 1)).as_deref(), Some(b"receipt".as_slice()));
}

#[test]
fn a_replay_of_the_store_is_remembered_with_its_age() {
    let store = Counting::default();
    run(&store, 1, b"receipt");
    store.clock().advance(90 * SECOND);
    let seen = SeenSet::new(store.clone());
    assert_eq!(replayed(claim(&seen, 1)).as_deref(), Some(b"receipt".as_slice()));
    store.clock().advance(10 * SECOND);
    let Verdict::Completed { body, age, skipped: true, .. } = claim(&seen, 1) else { panic!() };
    assert_eq!(body.as_deref(), Some(b"receipt".as_slice()));
    assert_eq!(age, 100 * SECOND);
    assert_eq!(store.claims(), 2);
}

#[test]
fn a_new_set_knows_nothing_of_what_the_process_before_it_did() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    run(&seen, 1, b"");
    assert_eq!(seen.len(), 1);
    drop(seen);
    let restarted = SeenSet::new(store.clone());
    assert!(restarted.is_empty());
    replayed(claim(&restarted, 1));

    let alone = SeenSet::new(KeyOnly);
    run(&alone, 1, b"");
    let alone = SeenSet::new(KeyOnly);
    assert!(matches!(claim(&alone, 1), Verdict::Claimed(_)), "key only charges again after a restart");
}

#[test]
fn clones_and_handles_are_one_set() {
    let seen = SeenSet::new(KeyOnly);
    let handle = seen.handle();
    run(&*handle, 1, b"");
    skipped(claim(&seen.clone(), 1));
    skipped(claim(&*handle.handle(), 1));
}

#[test]
fn running_released_and_refused_messages_are_the_stores_to_judge() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    let first = a_claim(1);
    assert!(matches!(seen.claim(&first).wait().unwrap(), Verdict::Claimed(_)));
    assert!(matches!(claim(&seen, 1), Verdict::InProgress { .. }));
    seen.release(&first.id, &first.token).wait().unwrap();
    let second = a_claim(1);
    assert!(matches!(seen.claim(&second).wait().unwrap(), Verdict::Claimed(_)));
    seen.fail(&a_completion(1, second.token, b"no")).wait().unwrap();
    assert!(matches!(claim(&seen, 1), Verdict::Refused { .. }));
    assert_eq!(store.claims(), 4);
    assert!(seen.is_empty());
}

#[test]
fn a_completion_that_came_too_late_is_not_remembered() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    let late = a_claim(1);
    assert!(matches!(seen.claim(&late).wait().unwrap(), Verdict::Claimed(_)));
    store.clock().advance(30 * SECOND);
    run(&store, 1, b"the successor's");
    let recorded = seen.complete(&a_completion(1, late.token, b"the late one's")).wait().unwrap();
    assert!(matches!(recorded, Recorded::Superseded { .. }));
    assert!(seen.is_empty());
    assert_eq!(replayed(claim(&seen, 1)).as_deref(), Some(b"the successor's".as_slice()));
}

#[test]
fn a_completion_sent_again_does_not_change_what_is_replayed() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    let token = run(&seen, 1, b"first");
    store.clock().advance(SECOND);
    let again = seen.complete(&a_completion(1, token, b"second")).wait().unwrap();
    assert_eq!(again, Recorded::Stored);
    let Verdict::Completed { body, age, skipped: true, .. } = claim(&seen, 1) else { panic!() };
    assert_eq!(body.as_deref(), Some(b"first".as_slice()));
    assert_eq!(age, SECOND);
}

/// The record keeps the payload that it was granted with.
#[test]
fn a_completion_of_another_payload_than_was_granted_is_not_learnt_from() {
    for (granted, completed) in [(OTHER, FIRST), (FIRST, OTHER), (None, FIRST), (FIRST, None)] {
        let store = SeenSet::new(idem_core::MemoryStore::new());
        let first = Claim { fingerprint: granted, ..a_claim(1) };
        assert!(matches!(store.claim(&first).wait().unwrap(), Verdict::Claimed(_)));
        let completion = Completion { fingerprint: completed, ..a_completion(1, first.token, b"receipt") };
        assert_eq!(store.complete(&completion).wait().unwrap(), Recorded::Stored);
        let again = |fingerprint| store.claim(&Claim { fingerprint, ..a_claim(1) }).wait().unwrap();
        assert!(matches!(again(completed), Verdict::Mismatch { .. }));
        assert_eq!(replayed(again(granted)).as_deref(), Some(&b"receipt"[..]));
    }
}

#[test]
fn another_payload_goes_through_to_the_store() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    run(&seen, 1, b"");
    let other = Claim { fingerprint: OTHER, ..a_claim(1) };
    assert!(matches!(seen.claim(&other).wait().unwrap(), Verdict::Mismatch { .. }));
    let unchecked = Claim { fingerprint: None, ..a_claim(1) };
    assert!(matches!(seen.claim(&unchecked).wait().unwrap(), Verdict::Mismatch { .. }));
    assert_eq!(store.claims(), 3);
    skipped(claim(&seen, 1));
}

#[test]
fn a_message_that_the_store_runs_again_with_another_payload_is_no_longer_skipped() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    run(&seen, 1, b"old");
    // Another process forgets it, and the message comes again with its payload mended.
    store.forget(&id(1), false).wait().unwrap();
    let mended = Claim { fingerprint: OTHER, ..a_claim(1) };
    assert!(matches!(seen.claim(&mended).wait().unwrap(), Verdict::Claimed(_)));
    assert!(matches!(claim(&seen, 1), Verdict::Mismatch { .. }));
    let completion = Completion { fingerprint: OTHER, ..a_completion(1, mended.token, b"new") };
    seen.complete(&completion).wait().unwrap();
    let again = Claim { fingerprint: OTHER, ..a_claim(1) };
    assert_eq!(skipped(seen.claim(&again).wait().unwrap()).as_deref(), Some(b"new".as_slice()));
}

#[test]
fn when_full_the_message_asked_for_least_recently_goes() {
    let seen = SeenSet::builder(KeyOnly).max_count(3).build();
    for n in [1, 2, 3] {
        run(&seen, n, b"");
    }
    skipped(claim(&seen, 1));
    run(&seen, 4, b"");
    assert_eq!(seen.len(), 3);
    for n in [3, 1, 4] {
        skipped(claim(&seen, n));
    }
    run(&seen, 5, b"");
    for n in [1, 4, 5] {
        skipped(claim(&seen, n));
    }
    for n in [2, 3] {
        assert!(matches!(claim(&seen, n), Verdict::Claimed(_)), "{n} was asked for least recently");
    }
}

#[test]
fn a_message_that_runs_takes_the_place_that_it_will_need() {
    let seen = SeenSet::builder(KeyOnly).max_count(1).build();
    run(&seen, 1, b"");
    let second = a_claim(2);
    assert!(matches!(seen.claim(&second).wait().unwrap(), Verdict::Claimed(_)));
    assert_eq!(seen.len(), 1);
    seen.release(&second.id, &second.token).wait().unwrap();
    assert!(seen.is_empty());
}

#[test]
fn a_large_set_keeps_to_its_count_and_to_the_newest() {
    let seen = SeenSet::builder(KeyOnly).max_count(30_000).build();
    for n in 0..60_000 {
        run(&seen, n, b"");
    }
    assert_eq!(seen.len(), 30_000);
    for n in 40_000..60_000 {
        skipped(claim(&seen, n));
    }
    for n in 0..20_000 {
        assert!(matches!(claim(&seen, n), Verdict::Claimed(_)));
    }
}

#[test]
fn a_set_of_none_remembers_none() {
    let seen = SeenSet::builder(KeyOnly).max_count(0).build();
    run(&seen, 1, b"");
    assert!(matches!(claim(&seen, 1), Verdict::Claimed(_)));
    assert!(seen.is_empty());
}

#[test]
fn at_the_end_of_max_age_the_store_is_asked_again() {
    let store = Counting::default();
    let seen = SeenSet::builder(store.clone()).max_age(MINUTE).build();
    run(&seen, 1, b"");
    store.clock().advance(MINUTE.checked_sub(Duration::from_micros(1)).unwrap());
    skipped(claim(&seen, 1));
    store.clock().advance(Duration::from_micros(1));
    replayed(claim(&seen, 1));
    skipped(claim(&seen, 1));
}

#[test]
fn an_entry_does_not_outlive_the_result_nor_the_record() {
    let store = Counting::default();
    let seen = SeenSet::builder(store.clone()).max_age(DAY).build();
    let first = a_claim(1);
    assert!(matches!(seen.claim(&first).wait().unwrap(), Verdict::Claimed(_)));
    let completion = Completion { ttl: MINUTE, keep: 2 * MINUTE, ..a_completion(1, first.token, b"x") };
    seen.complete(&completion).wait().unwrap();
    let set_before = SeenSet::builder(store.clone()).max_age(DAY).build();
    replayed(claim(&set_before, 1));

    store.clock().advance(MINUTE);
    for set in [&seen, &set_before] {
        assert_eq!(replayed(claim(set, 1)), None, "the result's time has passed");
        assert_eq!(skipped(claim(set, 1)), None);
    }
    store.clock().advance(MINUTE);
    assert!(matches!(claim(&seen, 1), Verdict::Claimed(_)), "the record's time has passed");
    assert!(matches!(claim(&set_before, 1), Verdict::InProgress { .. }));
}

#[test]
fn without_results_a_skip_has_none_and_lasts_as_long_as_the_record() {
    let store = Counting::default();
    let seen = SeenSet::builder(store.clone()).keep_results(false).max_age(100 * DAY).build();
    run(&seen, 1, &[7; 4096]);
    assert_eq!(skipped(claim(&seen, 1)), None);
    store.clock().advance(44 * DAY);
    assert_eq!(skipped(claim(&seen, 1)), None);
    store.clock().advance(DAY);
    assert!(matches!(claim(&seen, 1), Verdict::Claimed(_)));
}

#[test]
fn a_large_result_is_left_to_the_store() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    let largest = vec![7; SeenSet::<Counting>::MAX_RESULT];
    run(&seen, 1, &largest);
    assert_eq!(skipped(claim(&seen, 1)).as_deref(), Some(&*largest));
    let larger = vec![7; SeenSet::<Counting>::MAX_RESULT + 1];
    run(&seen, 2, &larger);
    assert_eq!(replayed(claim(&seen, 2)).as_deref(), Some(&*larger));
    assert_eq!(replayed(claim(&seen, 2)).as_deref(), Some(&*larger));
}

#[test]
fn what_is_forgotten_in_the_store_is_forgotten_in_the_set() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    run(&seen, 1, b"old");
    run(&seen, 2, b"other");
    assert!(matches!(seen.forget(&id(1), false).wait().unwrap(), Forgotten::Forgotten(_)));
    assert_eq!(seen.len(), 1);
    run(&seen, 1, b"new");
    assert_eq!(skipped(claim(&seen, 1)).as_deref(), Some(b"new".as_slice()));
    skipped(claim(&seen, 2));
}

#[test]
fn an_answer_that_was_under_way_does_not_bring_a_forgotten_message_back() {
    let store = Counting::default();
    let seen = SeenSet::new(Slow::new(store.clone()));
    run(&store, 1, b"");
    let first = a_claim(2);
    assert!(matches!(store.claim(&first).wait().unwrap(), Verdict::Claimed(_)));
    // The store has answered both, and nobody has heard it yet.
    let replay = seen.claim(&a_claim(1));
    let recorded = seen.complete(&a_completion(2, first.token, b""));
    for n in [1, 2] {
        seen.forget(&id(n), false).wait().unwrap();
    }
    replayed(replay.wait().unwrap());
    assert_eq!(recorded.wait().unwrap(), Recorded::Stored);
    assert!(seen.is_empty());
    for n in [1, 2] {
        assert!(matches!(claim(&seen, n), Verdict::Claimed(_)));
    }
}

#[test]
fn a_message_is_forgotten_even_if_nobody_hears_the_stores_answer() {
    let seen = SeenSet::new(Slow::new(Counting::default()));
    run(&seen, 1, b"");
    let reply = seen.forget(&id(1), false);
    assert!(seen.is_empty());
    drop(reply);
    assert!(matches!(claim(&seen, 1), Verdict::Claimed(_)));
}

#[test]
fn what_was_learnt_while_the_store_was_still_forgetting_goes_too() {
    let seen = SeenSet::new(Slow::forgetting_late(Counting::default()));
    run(&seen, 1, b"");
    let reply = seen.forget(&id(1), false);
    replayed(claim(&seen, 1));
    assert_eq!(seen.len(), 1);
    assert!(matches!(reply.wait().unwrap(), Forgotten::Forgotten(_)));
    assert!(matches!(claim(&seen, 1), Verdict::Claimed(_)));
}

#[test]
fn many_claims_at_once_ask_the_store_only_for_what_is_not_known() {
    let store = Counting::default();
    let seen = SeenSet::new(store.clone());
    run(&seen, 1, b"1");
    run(&store, 2, b"2");
    let asked = store.claims();
    let claims = [a_claim(3), a_claim(1), a_claim(2), a_claim(3), a_claim(1)];
    let verdicts = seen.claim_many(&claims).wait().unwrap();
    assert_eq!(verdicts.len(), 5);
    assert!(matches!(verdicts[0], Verdict::Claimed(_)));
    assert_eq!(skipped(verdicts[1].clone()).as_deref(), Some(b"1".as_slice()));
    assert_eq!(replayed(verdicts[2].clone()).as_deref(), Some(b"2".as_slice()));
    assert!(matches!(verdicts[3], Verdict::InProgress { .. }));
    skipped(verdicts[4].clone());
    assert_eq!(store.claims(), asked + 3);
    for verdict in seen.claim_many(&claims[1..3]).wait().unwrap() {
        skipped(verdict);
    }
    assert_eq!(store.claims(), asked + 3);
}

#[test]
fn a_handler_behind_a_seen_set_is_told_that_its_message_was_skipped() {
    let before = idem_core::counters().skipped;
    let seen = SeenSet::new(KeyOnly);
    let charge = Idempotent::new(&seen, Handler::new("billing.charge"));
    let key = Key::trusted("msg:8f14", "a test").unwrap();
    let first = charge.run_blocking(&key, || Ok::<_, Error>("ch_1".to_owned())).unwrap();
    assert!(first.is_executed());
    let again = charge.run_blocking(&key, || Ok::<_, Error>("ch_2".to_owned())).unwrap();
    assert_eq!(again, Outcome::Skipped { value: "ch_1".to_owned() });
    assert_eq!(idem_core::counters().skipped, before + 1);
}

#[test]
fn the_class_is_that_of_the_store_behind_it() {
    assert_eq!(SeenSet::new(Counting::default()).class(), StoreClass::Durable);
    assert_eq!(SeenSet::<Counting>::CLASS, Some(StoreClass::Durable));
    assert_eq!(SeenSet::<KeyOnly>::CLASS, Some(StoreClass::Volatile));
}

#[test]
fn two_threads_see_one_set_and_only_what_was_completed() {
    let seen = SeenSet::builder(KeyOnly).max_count(500).build();
    let barrier = std::sync::Barrier::new(2);
    std::thread::scope(|threads| {
        for thread in 0..2_u64 {
            let (seen, barrier) = (&seen, &barrier);
            threads.spawn(move || {
                barrier.wait();
                for n in 0..20_000 {
                    let n = (n * 7 + thread) % 1_000;
                    let claim = a_claim(n);
                    match seen.claim(&claim).wait().unwrap() {
                        Verdict::Claimed(_) => {
                            let body = n.to_be_bytes();
                            seen.complete(&a_completion(n, claim.token, &body)).wait().unwrap();
                        }
                        verdict => assert_eq!(skipped(verdict).as_deref(), Some(n.to_be_bytes().as_slice())),
                    }
                    if n % 97 == 0 {
                        seen.forget(&id(n), true).wait().unwrap();
                    }
                }
            });
        }
    });
    assert!((490..=500).contains(&seen.len()));
}

#[test]
fn each_success_of_a_batch_is_learnt_and_no_other() {
    for over_key_only in [false, true] {
        let store: Box<dyn Store> = if over_key_only {
            Box::new(SeenSet::new(KeyOnly))
        } else {
            Box::new(SeenSet::new(Counting::default()))
        };
        let claims: Vec<_> = (0..4).map(a_claim).collect();
        store.claim_many(&claims).wait().unwrap();
        // The last is sent by another attempt than was granted it.
        let batch: Vec<_> = (0..)
            .zip(&claims)
            .map(|(n, claim)| {
                let token = if n == 3 { Token::fresh() } else { claim.token };
                End::Complete(a_completion(n, token, &[u8::try_from(n).unwrap()]))
            })
            .collect();
        assert_eq!(store.end_many(&batch).wait().unwrap().len(), 4);
        for n in 0..3 {
            let body = skipped(claim(&*store, n)).unwrap();
            assert_eq!(body.as_slice(), [u8::try_from(n).unwrap()]);
        }
        assert!(!matches!(claim(&*store, 3), Verdict::Completed { .. }));
    }
}

#[test]
fn an_end_of_a_batch_that_is_no_success_is_not_learnt() {
    let store = SeenSet::new(Counting::default());
    let claims: Vec<_> = (0..2).map(a_claim).collect();
    store.claim_many(&claims).wait().unwrap();
    let ends = [
        End::Fail(a_completion(0, claims[0].token, b"failed")),
        End::Release { id: claims[1].id, token: claims[1].token },
    ];
    store.end_many(&ends).wait().unwrap();
    assert!(matches!(claim(&store, 0), Verdict::Refused { .. }));
    assert!(matches!(claim(&store, 1), Verdict::Claimed(_)));
}

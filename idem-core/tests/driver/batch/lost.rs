//! Claims and completions that get lost, or fail.

use std::cell::Cell;

use idem_core::StoreErrorKind;
use idem_core::machine::StateKind;

use super::*;

#[test]
fn a_store_that_does_not_answer_is_everyones_error_and_nothing_runs() {
    let store = ModelStore::new();
    for _ in 0..3 {
        store.next("claim_many", Fault::LostBefore);
    }
    let ran = Cell::new(false);
    let results = in_time(
        &store,
        work(&store).run_batch(entries(10), 4, |n| {
            ran.set(true);
            async move { Ok::<_, Error>(n) }
        }),
    );
    assert!(results.iter().all(|result| kind(result) == ErrorKind::Unavailable));
    assert!(!ran.get());
    store.finish_spawned();
    assert_eq!(store.records(StateKind::Held), 0);
}

#[test]
fn claims_whose_answer_got_lost_are_sent_again_together_and_granted_once() {
    for fault in [Fault::LostAfter, Fault::LostBefore] {
        let store = ModelStore::new();
        store.next("claim_many", fault);
        let results =
            in_time(&store, work(&store).run_batch(entries(10), 4, |n| async move { Ok::<_, Error>(n) }));
        assert!(results.iter().enumerate().all(|(n, result)| *result.as_ref().unwrap() == executed(n)));
        assert!(store.count("claim_many") <= 2);
        assert_eq!(store.count("complete"), 10);
    }
}

#[test]
fn claims_that_nobody_got_an_answer_for_are_given_back() {
    let store = ModelStore::new();
    for _ in 0..3 {
        store.next("claim_many", Fault::LostAfter);
    }
    let results =
        in_time(&store, work(&store).run_batch(entries(10), 4, |n| async move { Ok::<_, Error>(n) }));
    assert!(results.iter().all(|result| kind(result) == ErrorKind::Unavailable));
    store.finish_spawned();
    assert_eq!(store.records(StateKind::Open), 10);
}

#[test]
fn a_record_that_cannot_be_read_is_its_own_messages_error() {
    for (fault, its) in
        [(StoreErrorKind::Corrupt, ErrorKind::Misconfigured), (StoreErrorKind::Full, ErrorKind::Full)]
    {
        let store = ModelStore::new();
        store.next("claim_many", Fault::Broken(fault));
        store.next("claim", Fault::None);
        store.next("claim", Fault::Broken(fault));
        let results = now(work(&store).run_batch(entries(4), 4, |n| async move { Ok::<_, Error>(n) }));
        assert_eq!(kind(&results[1]), its);
        for n in [0, 2, 3] {
            assert_eq!(*results[n].as_ref().unwrap(), executed(n));
        }
    }
}

#[test]
fn results_whose_record_got_lost_are_sent_again_together() {
    for fault in [Fault::LostBefore, Fault::LostAfter] {
        let store = ModelStore::new();
        store.next("end_many", fault);
        let results =
            in_time(&store, work(&store).run_batch(entries(10), 4, |n| async move { Ok::<_, Error>(n) }));
        assert!(results.iter().enumerate().all(|(n, result)| *result.as_ref().unwrap() == executed(n)));
        assert!(store.count("end_many") <= 2);
        assert_eq!(store.records(StateKind::Done), 10);
    }
}

#[test]
fn a_result_that_cannot_be_kept_keeps_no_other_from_being_recorded() {
    let store = ModelStore::new();
    store.next("end_many", Fault::Broken(StoreErrorKind::Full));
    store.next("complete", Fault::Broken(StoreErrorKind::Full));
    let results = now(work(&store).run_batch(entries(4), 4, |n| async move { Ok::<_, Error>(n) }));
    assert_eq!(*results[0].as_ref().unwrap(), Outcome::Executed { value: 0, recorded: false });
    for n in [1, 2, 3] {
        assert_eq!(*results[n].as_ref().unwrap(), executed(n));
    }
}

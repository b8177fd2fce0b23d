//! Full, and too old.

use std::time::Duration;

use super::{SECOND, claim, completion, finish, grant, id, manual, refused, replay, token};
use crate::machine::{Claim, Prior, Recorded, Released, Verdict};
use crate::store::Store;
use crate::{ManualClock, MemoryStore, StoreErrorKind};

fn small(records: usize) -> (MemoryStore, ManualClock) {
    let clock = ManualClock::new();
    (MemoryStore::builder().max_records(records).clock(clock.clone()).build(), clock)
}

#[test]
fn a_full_store_evicts_the_oldest_finished_record_first() {
    let (store, clock) = small(3);
    for number in [1, 2, 3] {
        finish(&store, number, b"result");
        clock.advance(SECOND);
    }
    finish(&store, 4, b"result");
    assert_eq!(store.inspect(&id(1)).wait().unwrap(), None);
    assert!(replay(&store, 2).is_ok() && replay(&store, 3).is_ok() && replay(&store, 4).is_ok());
    assert_eq!(store.counts().evicted, 1);
    assert_eq!(store.oldest_completed_age(), Some(2 * SECOND));
}

#[test]
fn the_oldest_is_found_among_results_of_all_kinds() {
    let (store, clock) = small(3);
    // Without a body, with a long life, with a body whose time has passed: three lanes.
    finish(&store, 1, b"");
    clock.advance(SECOND);
    grant(&store, &claim(2));
    let brief = crate::machine::Completion { ttl: SECOND, ..completion(2, b"brief") };
    store.complete(&brief).wait().unwrap();
    clock.advance(2 * SECOND);
    finish(&store, 3, b"result");
    for (newcomer, gone) in [(4, 1), (5, 2), (6, 3)] {
        finish(&store, newcomer, b"result");
        assert_eq!(store.inspect(&id(gone)).wait().unwrap(), None, "{newcomer} should have evicted {gone}");
    }
    assert_eq!(store.len(), 3);
}

#[test]
fn what_is_over_goes_before_what_is_old() {
    let (store, clock) = small(2);
    finish(&store, 1, b"old and valid");
    clock.advance(SECOND);
    grant(&store, &claim(2));
    let brief = crate::machine::Completion { ttl: SECOND, keep: SECOND, ..completion(2, b"young and over") };
    store.complete(&brief).wait().unwrap();
    clock.advance(SECOND);
    finish(&store, 3, b"result");
    assert!(replay(&store, 1).is_ok());
    assert_eq!(store.counts().evicted, 0);
}

#[test]
fn a_store_full_of_live_claims_refuses_and_changes_nothing() {
    let (store, clock) = small(2);
    grant(&store, &claim(1));
    grant(&store, &claim(2));
    let error = refused(store.claim(&claim(3)).wait());
    assert_eq!(error.kind(), StoreErrorKind::Full);
    assert_eq!(store.counts().refused, 1);
    assert_eq!(store.inspect(&id(3)).wait().unwrap(), None);
    // A success without a record has no room either.
    assert_eq!(store.complete(&completion(4, b"late")).wait().unwrap_err().kind(), StoreErrorKind::Full);
    // Those who hold it go on.
    assert_eq!(store.complete(&completion(1, b"result")).wait().unwrap(), Recorded::Stored);
    // Now there is one that can go.
    grant(&store, &claim(3));
    assert_eq!(store.inspect(&id(1)).wait().unwrap(), None);
    clock.advance(9 * SECOND);
    assert!(matches!(
        store.claim(&Claim { token: token(9), ..claim(2) }).wait(),
        Ok(Verdict::InProgress { .. })
    ));
}

#[test]
fn records_that_nobody_holds_go_last_and_the_oldest_grant_first() {
    let (store, clock) = small(3);
    grant(&store, &claim(1));
    clock.advance(SECOND);
    grant(&store, &claim(2));
    finish(&store, 3, b"result");
    assert!(matches!(store.release(&id(2), &token(2)).wait(), Ok(Released::Released { .. })));
    clock.advance(10 * SECOND);
    // 1 has lapsed, 2 was released, 3 is finished and goes first.
    grant(&store, &claim(4));
    assert_eq!(store.inspect(&id(3)).wait().unwrap(), None);
    grant(&store, &claim(5));
    assert_eq!(store.inspect(&id(1)).wait().unwrap(), None);
    grant(&store, &claim(6));
    assert_eq!(store.inspect(&id(2)).wait().unwrap(), None);
    assert_eq!(refused(store.claim(&claim(7)).wait()).kind(), StoreErrorKind::Full);
}

#[test]
fn an_abandoned_record_that_was_taken_over_is_not_evicted() {
    let (store, clock) = small(2);
    grant(&store, &claim(1));
    grant(&store, &claim(2));
    clock.advance(10 * SECOND);
    // The look for room finds both abandoned, and takes 1.
    grant(&store, &claim(3));
    assert_eq!(grant(&store, &Claim { token: token(9), ..claim(2) }).prior, Prior::Lapsed);
    assert_eq!(refused(store.claim(&claim(4)).wait()).kind(), StoreErrorKind::Full);
    assert!(store.inspect(&id(2)).wait().unwrap().is_some());
}

#[test]
fn records_younger_than_the_least_age_are_not_evicted() {
    let clock = ManualClock::new();
    let store = MemoryStore::builder().max_records(2).min_age(5 * SECOND).clock(clock.clone()).build();
    finish(&store, 1, b"result");
    clock.advance(SECOND);
    finish(&store, 2, b"result");
    assert_eq!(refused(store.claim(&claim(3)).wait()).kind(), StoreErrorKind::Full);
    clock.advance(4 * SECOND);
    finish(&store, 3, b"result");
    assert_eq!(store.inspect(&id(1)).wait().unwrap(), None);
    assert_eq!(refused(store.claim(&claim(4)).wait()).kind(), StoreErrorKind::Full);
}

#[test]
fn a_refused_batch_leaves_no_claim_behind() {
    let (store, clock) = small(3);
    grant(&store, &claim(1));
    let taken_over = Claim { token: token(8), ..claim(2) };
    grant(&store, &claim(2));
    clock.advance(SECOND);
    store.release(&id(2), &token(2)).wait().unwrap();
    let batch = [claim(1), taken_over.clone(), claim(3), claim(4), claim(5)];
    let error = store.claim_many(&batch).wait().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Full);
    // The one before the batch is as it was, the others are free.
    assert!(matches!(
        store.claim(&Claim { token: token(9), ..claim(1) }).wait(),
        Ok(Verdict::InProgress { .. })
    ));
    assert_eq!(store.inspect(&id(3)).wait().unwrap(), None);
    assert_eq!(grant(&store, &Claim { token: token(9), ..claim(2) }).prior, Prior::Released);
}

#[test]
fn no_finished_record_outlives_the_greatest_age() {
    let clock = ManualClock::new();
    let store = MemoryStore::builder().max_age(30 * SECOND).clock(clock.clone()).build();
    finish(&store, 1, b"result");
    clock.advance(19 * SECOND);
    assert!(replay(&store, 1).unwrap().is_some());
    clock.advance(10 * SECOND);
    assert_eq!(replay(&store, 1), Ok(None), "its ttl of 20 s is below the greatest age");
    clock.advance(SECOND);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 1);
    assert_eq!(grant(&store, &claim(1)).tries, 1);
}

#[test]
fn a_live_claim_outlives_the_greatest_age_and_what_it_leaves_does_not() {
    let clock = ManualClock::new();
    let store = MemoryStore::builder().max_age(5 * SECOND).clock(clock.clone()).build();
    let first = grant(&store, &claim(1));
    clock.advance(9 * SECOND);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 0);
    assert!(matches!(
        store.claim(&Claim { token: token(9), ..claim(1) }).wait(),
        Ok(Verdict::InProgress { .. })
    ));
    clock.advance(SECOND);
    // Its lease is over, and it is too old to be spoken of as lapsed.
    let second = grant(&store, &Claim { token: token(9), ..claim(1) });
    assert_eq!((second.tries, second.prior), (1, Prior::None));
    assert!(second.fence > first.fence);
}

#[test]
fn renewals_do_not_make_a_released_record_younger() {
    let clock = ManualClock::new();
    let store = MemoryStore::builder().max_age(15 * SECOND).clock(clock.clone()).build();
    grant(&store, &claim(1));
    clock.advance(9 * SECOND);
    let renewal = crate::machine::Renewal { id: id(1), token: token(1), lease: 10 * SECOND };
    store.renew(&renewal).wait().unwrap();
    store.release(&id(1), &token(1)).wait().unwrap();
    clock.advance(5 * SECOND);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 0);
    clock.advance(SECOND);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 1);
}

#[test]
fn a_great_store_keeps_its_bound_over_all_shards() {
    let store = MemoryStore::builder().max_records(20_001).clock(ManualClock::new()).build();
    for number in 0..30_000 {
        finish(&store, number, b"result");
        assert!(store.counts().finished <= 20_001 || number % 1_000 != 0);
    }
    let counts = store.counts();
    assert_eq!(counts.evicted + counts.finished as u64, 30_000);
    assert!(counts.finished > 19_000 && counts.finished <= 20_001, "{counts:?}");
    assert_eq!(counts.refused, 0);
}

#[test]
fn a_store_whose_segments_are_all_in_use_evicts_the_oldest_record() {
    let (store, _) = small(1_000);
    grant(&store, &claim(0));
    // Each pair of windows is a lane with a segment of its own.
    let pairs = (0..20_u64).flat_map(|keep| (0..=keep).map(move |ttl| (ttl, keep)));
    let mut last = 0;
    for (number, (ttl, keep)) in (1..).zip(pairs) {
        let (ttl, keep) = (Duration::from_secs(1 << ttl), Duration::from_secs(1 << keep));
        grant(&store, &claim(number));
        let completion = crate::machine::Completion { ttl, keep, ..completion(number, b"result") };
        assert_eq!(store.complete(&completion).wait().unwrap(), Recorded::Stored);
        assert!(replay(&store, number).unwrap().is_some());
        last = number;
    }
    let counts = store.counts();
    assert_eq!((counts.unfinished, counts.finished, counts.evicted), (1, 64, last - 64));
    assert_eq!(store.complete(&completion(0, b"result")).wait().unwrap(), Recorded::Stored);
}

#[test]
fn the_bounds_of_the_bounds_are_kept() {
    let store =
        MemoryStore::builder().max_records(0).max_age(Duration::ZERO).clock(ManualClock::new()).build();
    grant(&store, &claim(1));
    assert_eq!(refused(store.claim(&claim(2)).wait()).kind(), StoreErrorKind::Full);
    assert_eq!(store.complete(&completion(1, b"result")).wait().unwrap(), Recorded::Stored);
    // Kept for no time at all.
    grant(&store, &claim(2));
    let (endless, _) = manual();
    let forever = Claim { lease: Duration::MAX, keep: Duration::MAX, ..claim(1) };
    grant(&endless, &forever);
    assert_eq!(endless.sweep(usize::MAX).wait().unwrap(), 0);
}

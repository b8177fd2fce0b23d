//! What ends, and the memory that comes back.

use std::time::Duration;

use super::{SECOND, claim, completion, finish, grant, id, manual, replay, token};
use crate::Body;
use crate::machine::{Claim, Completion, OnLapse, Prior, Recorded, Renewed, StateKind, Verdict};
use crate::store::Store;

#[test]
fn the_body_goes_at_its_time_and_the_tombstone_stays() {
    let (store, clock) = manual();
    finish(&store, 1, b"result");
    clock.advance(Duration::from_micros(19_999_999));
    assert_eq!(replay(&store, 1), Ok(Some(Body::copy_from(b"result"))));
    clock.advance(Duration::from_micros(1));
    assert_eq!(replay(&store, 1), Ok(None));
    // The same holds once the body's memory has come back.
    store.sweep(usize::MAX).wait().unwrap();
    assert_eq!(replay(&store, 1), Ok(None));
    assert_eq!(store.complete(&completion(1, b"again")).wait().unwrap(), Recorded::Stored);
    clock.advance(Duration::from_micros(79_999_999));
    assert_eq!(replay(&store, 1), Ok(None));
    clock.advance(Duration::from_micros(1));
    assert_eq!(grant(&store, &claim(1)).tries, 1);
}

#[test]
fn a_tombstone_keeps_what_it_was() {
    let (store, clock) = manual();
    let fingerprint = Some(crate::Fingerprint::from_bytes([7; 16]));
    let odd = Claim { fingerprint, ..claim(1) };
    let granted = grant(&store, &odd);
    clock.advance(SECOND);
    store.fail(&completion(1, &[b'e'; 200])).wait().unwrap();
    clock.advance(20 * SECOND);
    store.sweep(usize::MAX).wait().unwrap();
    let snapshot = store.inspect(&id(1)).wait().unwrap().unwrap();
    assert_eq!((snapshot.state, snapshot.fence, snapshot.tries), (StateKind::Failed, granted.fence, 1));
    assert_eq!((snapshot.first_age, snapshot.done_age), (21 * SECOND, Some(20 * SECOND)));
    assert_eq!((snapshot.body, snapshot.fingerprint), (None, fingerprint));
    assert_eq!(snapshot.ends_in, 80 * SECOND);
    let mismatch = Verdict::Mismatch { state: StateKind::Failed };
    assert_eq!(store.claim(&claim(1)).wait().unwrap(), mismatch);
}

#[test]
fn replays_give_the_bytes_of_the_completion_whatever_their_length() {
    let (store, _) = manual();
    for len in [0_u32, 1, 63, 64, 94, 95, 96, 255, 256, 70_000] {
        let bytes: Vec<u8> = (0..len).map(|at| at.to_le_bytes()[0]).collect();
        finish(&store, len.into(), &bytes);
        for _ in 0..2 {
            assert_eq!(replay(&store, len.into()).unwrap().as_deref(), Some(&bytes[..]));
        }
    }
}

#[test]
fn a_large_body_is_shared_with_the_store_and_let_go_with_its_record() {
    let (store, clock) = manual();
    let body = Body::from(vec![1; 1_000]);
    let address = body.as_ptr();
    grant(&store, &claim(1));
    store.complete(&Completion { body, ..completion(1, b"") }).wait().unwrap();
    let kept = replay(&store, 1).unwrap().unwrap();
    assert_eq!(kept.as_ptr(), address, "the bytes were copied");
    clock.advance(20 * SECOND);
    store.sweep(usize::MAX).wait().unwrap();
    assert_eq!(store.segment_bytes().1, 0, "the store still holds the body");
}

#[test]
fn memory_comes_back_when_bodies_end_and_again_when_records_do() {
    let (store, clock) = manual();
    for number in 0..60_000 {
        finish(&store, number, &[7; 64]);
    }
    let (with_bodies, _) = store.segment_bytes();
    assert!(with_bodies > 60_000 * 128);
    clock.advance(20 * SECOND);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 0);
    let (tombstones, _) = store.segment_bytes();
    assert!(tombstones < with_bodies * 6 / 10, "{tombstones} of {with_bodies} bytes are left");
    clock.advance(80 * SECOND);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 60_000);
    let (nothing, _) = store.segment_bytes();
    assert_eq!((store.len(), nothing), (0, 0));
}

#[test]
fn memory_comes_back_with_the_deliveries_that_follow() {
    let (store, clock) = manual();
    // A hundred a second, a body kept for 20 s, a record for 100 s: 10,000 records at a time, 2,000 of them with bodies.
    let mut bytes = Vec::new();
    for second in 0..400 {
        for number in 0..100 {
            finish(&store, second * 100 + number, &[7; 64]);
        }
        clock.advance(SECOND);
        bytes.push(store.segment_bytes().0);
    }
    assert!(store.len() < 10_000 + 1_000, "{} records are left", store.len());
    assert!(bytes[399] < 2 * (10_000 * 64 + 2_000 * 64), "{} bytes", bytes[399]);
    assert!(bytes[399] < bytes[200] * 11 / 10, "memory grows: {} to {}", bytes[200], bytes[399]);
}

#[test]
fn a_sweep_takes_no_more_than_its_limit() {
    let (store, clock) = manual();
    for number in 0..10 {
        finish(&store, number, b"");
        grant(&store, &claim(100 + number));
    }
    clock.advance(100 * SECOND);
    assert_eq!(store.sweep(0).wait().unwrap(), 0);
    assert_eq!(store.sweep(7).wait().unwrap(), 7);
    assert_eq!(store.len(), 13);
    assert_eq!(store.sweep(usize::MAX).wait().unwrap(), 13);
    assert!(store.is_empty());
}

#[test]
fn a_lease_that_ran_out_still_completes_and_renews_until_another_takes_over() {
    let (store, clock) = manual();
    grant(&store, &claim(1));
    clock.advance(15 * SECOND);
    let renewal = crate::machine::Renewal { id: id(1), token: token(1), lease: 10 * SECOND };
    assert_eq!(store.renew(&renewal).wait().unwrap(), Renewed::Renewed { remaining: 10 * SECOND });
    clock.advance(10 * SECOND);
    assert_eq!(store.complete(&completion(1, b"result")).wait().unwrap(), Recorded::Stored);
    assert_eq!(store.renew(&renewal).wait().unwrap(), Renewed::Lost(Some(StateKind::Done)));
    assert!(replay(&store, 1).unwrap().is_some());
}

#[test]
fn a_dropped_body_ends_its_lease_at_once() {
    let (store, clock) = manual();
    let first = grant(&store, &claim(1));
    clock.advance(SECOND);
    // Only by the attempt that holds it.
    store.dropped(&id(1), &token(2));
    assert!(matches!(
        store.claim(&Claim { token: token(2), ..claim(1) }).wait(),
        Ok(Verdict::InProgress { .. })
    ));
    store.dropped(&id(1), &token(1));
    let parked = Claim { token: token(2), on_lapse: OnLapse::Park, ..claim(1) };
    assert_eq!(store.claim(&parked).wait().unwrap(), Verdict::Lapsed { tries: 1, first_age: SECOND });
    let second = grant(&store, &Claim { token: token(3), ..claim(1) });
    assert_eq!((second.prior, second.tries), (Prior::Lapsed, 2));
    assert!(second.fence > first.fence);
    // A word that comes late says nothing about the new holder, nor about a record that is done or unknown.
    store.dropped(&id(1), &token(1));
    store.dropped(&id(2), &token(1));
    store.complete(&Completion { token: token(3), ..completion(1, b"result") }).wait().unwrap();
    store.dropped(&id(1), &token(3));
    assert!(replay(&store, 1).unwrap().is_some());
}

#[test]
fn a_dropped_body_does_not_give_a_lapsed_lease_new_life() {
    let (store, clock) = manual();
    grant(&store, &claim(1));
    clock.advance(50 * SECOND);
    store.dropped(&id(1), &token(1));
    let snapshot = store.inspect(&id(1)).wait().unwrap().unwrap();
    assert_eq!((snapshot.state, snapshot.lease), (StateKind::Held, Some(Duration::ZERO)));
}

#[test]
fn fences_grow_across_deletion_though_the_clock_stands() {
    let (store, _) = manual();
    let mut last = 0;
    for round in 0..50 {
        let by = Claim { token: token(round), ..claim(1) };
        let fence = grant(&store, &by).fence;
        assert!(fence > last, "{fence} after {last}");
        last = fence;
        store.forget(&id(1), true).wait().unwrap();
    }
}

#[test]
fn a_fence_that_a_success_brought_back_is_not_given_out_again() {
    let (store, clock) = manual();
    let ahead = clock.now().as_micros() + 1_000;
    let late = Completion { fence: ahead, ..completion(1, b"result") };
    assert_eq!(store.complete(&late).wait().unwrap(), Recorded::Recreated);
    store.forget(&id(1), false).wait().unwrap();
    assert!(grant(&store, &claim(1)).fence > ahead);
}

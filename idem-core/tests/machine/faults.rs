//! Faults that others have shipped, as far as a pure function can have them.

use idem_core::OnLapse;
use idem_core::machine::{Grant, Prior, State, StateKind};

use super::*;

// F05
#[test]
fn a_stale_owner_cannot_complete_after_a_takeover() {
    let mut place = Place::new();
    place.grant(&claim(A));
    place.pass(30 * SECOND);
    place.grant(&claim(B));
    place.pass(SECOND);
    assert_eq!(place.complete(&completion(B, "B's")), Recorded::Stored);
    place.pass(SECOND);
    let superseded = Recorded::Superseded { state: StateKind::Done, fence: 31_000_000 };
    assert_eq!(place.unchanged(|place| place.complete(&completion(A, "A's"))), superseded);
    assert_eq!(place.unchanged(|place| place.fail(&completion(A, "A's"))), superseded);
    let Verdict::Completed { body, .. } = place.claim(&claim(C)) else { panic!() };
    assert_eq!(body, Some(Body::copy_from(b"B's")));
}

// F06
#[test]
fn nobody_releases_a_claim_that_is_not_theirs() {
    let mut place = Place::new();
    place.grant(&claim(A));
    assert!(matches!(place.claim(&claim(B)), Verdict::InProgress { .. }));
    assert_eq!(place.unchanged(|place| place.release(B)), Released::Superseded);
    let other = Claim { fingerprint: OTHER, ..claim(C) };
    assert!(matches!(place.claim(&other), Verdict::Mismatch { .. }));
    assert_eq!(place.unchanged(|place| place.release(C)), Released::Superseded);
    place.pass(30 * SECOND);
    place.grant(&claim(B));
    assert_eq!(place.unchanged(|place| place.release(A)), Released::Superseded);
    place.complete(&completion(B, ""));
    for token in [A, B, C] {
        assert_eq!(place.unchanged(|place| place.release(token)), Released::Superseded);
    }
}

// F08
#[test]
fn a_lapse_that_nobody_used_does_not_cost_the_result() {
    let mut place = Place::new();
    let short = Claim { lease: Duration::from_millis(50), ..claim(A) };
    place.grant(&short);
    place.pass(Duration::from_millis(100));
    let renewed = Renewed::Renewed { remaining: Duration::from_millis(50) };
    assert_eq!(place.renew(A, Duration::from_millis(50)), renewed);
    place.pass(Duration::from_millis(100));
    assert_eq!(place.complete(&completion(A, "receipt")), Recorded::Stored);
    assert!(matches!(place.claim(&claim(B)), Verdict::Completed { body: Some(_), .. }));
}

// F09: the type has no Held without an end, so a lease of nothing is the nearest to it.
#[test]
fn a_claim_without_a_lease_has_lapsed_at_once_and_is_not_free() {
    let mut place = Place::new();
    place.grant(&Claim { lease: Duration::ZERO, ..claim(A) });
    let State::Held { lease_at, .. } = place.record.clone().unwrap().state else { panic!() };
    assert_eq!(lease_at, place.now);
    let parks = Claim { on_lapse: OnLapse::Park, ..claim(B) };
    let lapsed = Verdict::Lapsed { tries: 1, first_age: Duration::ZERO };
    assert_eq!(place.unchanged(|place| place.claim(&parks)), lapsed);
    let Grant { tries, prior, .. } = place.grant(&claim(B));
    assert_eq!((tries, prior), (2, Prior::Lapsed));
}

// F10
#[test]
fn a_lease_of_no_time_a_part_of_a_microsecond_or_all_time_does_not_wrap() {
    let cases = [
        (Duration::ZERO, 0),
        (Duration::from_nanos(999), 0),
        (Duration::from_micros(1), 1),
        (Duration::from_nanos(1_999), 1),
        (Duration::from_millis(1), 1_000),
        (Duration::from_secs(1), 1_000_000),
        (Duration::from_secs(300 * 365 * 86_400), 300 * 365 * 86_400 * 1_000_000),
    ];
    for (lease, micros) in cases {
        let mut place = Place::new();
        place.grant(&Claim { lease, ..claim(A) });
        let State::Held { lease_at, .. } = place.record.clone().unwrap().state else { panic!() };
        assert_eq!(lease_at, at(1_000_000 + micros), "a lease of {lease:?}");
    }
    let mut place = Place::new();
    let endless = Claim { lease: Duration::MAX, keep: Duration::MAX, ..claim(A) };
    place.grant(&endless);
    place.renew(A, Duration::MAX);
    let record = place.record.clone().unwrap();
    assert_eq!(record.state, State::Held { lease_at: Timestamp::MAX, prior: Prior::None });
    assert_eq!(record.drop_at, Timestamp::MAX);
    place.now = at(u64::MAX - 1);
    let remaining = Duration::from_micros(1);
    assert_eq!(place.claim(&claim(B)), Verdict::InProgress { remaining, tries: 1 });
    let forever = Completion { ttl: Duration::MAX, keep: Duration::MAX, ..completion(A, "") };
    assert_eq!(place.complete(&forever), Recorded::Stored);
    assert_eq!(place.record.clone().unwrap().drop_at, Timestamp::MAX);
}

// F11
#[test]
fn at_the_very_end_of_a_lease_it_has_lapsed() {
    let mut place = Place::new();
    place.grant(&claim(A));
    place.now = at(30_999_999);
    let remaining = Duration::from_micros(1);
    assert_eq!(place.claim(&claim(B)), Verdict::InProgress { remaining, tries: 1 });
    assert_eq!(place.forget(false), Forgotten::StillHeld { remaining });
    place.now = at(31_000_000);
    assert!(matches!(place.clone().forget(false), Forgotten::Forgotten(_)));
    assert!(matches!(place.claim(&claim(B)), Verdict::Claimed(_)));
    assert_eq!(place.renew(A, SECOND), Renewed::Lost(Some(StateKind::Held)));
}

// F11
#[test]
fn at_the_very_end_of_a_record_it_is_gone() {
    let mut place = Place::new();
    place.grant(&claim(A));
    place.complete(&completion(A, "receipt"));
    place.now = at(500_999_999);
    let last = Duration::from_micros(1);
    let tombstone = Verdict::Completed {
        body: None,
        age: Duration::from_micros(499_999_999),
        valid_for: last,
        skipped: false,
    };
    assert_eq!(place.claim(&claim(B)), tombstone);
    assert_eq!(place.inspect().unwrap().ends_in, last);
    place.now = at(501_000_000);
    assert_eq!(place.inspect(), None);
    assert!(matches!(place.claim(&claim(B)), Verdict::Claimed(_)));
}

// F11
#[test]
fn at_the_very_end_of_a_result_its_bytes_are_gone() {
    let mut place = Place::new();
    place.grant(&claim(A));
    place.complete(&completion(A, "receipt"));
    for (now, there) in [(100_999_999, true), (101_000_000, false), (101_000_001, false)] {
        place.now = at(now);
        let Verdict::Completed { body, .. } = place.claim(&claim(B)) else { panic!() };
        assert_eq!(body.is_some(), there, "at {now}");
        assert_eq!(place.inspect().unwrap().body.is_some(), there, "at {now}");
    }
}

// The end of a record must not come before the end of a lease, or it is free while it is held.
#[test]
fn a_record_never_ends_before_its_lease() {
    let mut place = Place::new();
    let brief = Claim { keep: SECOND, ..claim(A) };
    place.grant(&brief);
    place.pass(29 * SECOND);
    assert!(matches!(place.claim(&claim(B)), Verdict::InProgress { .. }));
    place.renew(A, 30 * SECOND);
    place.pass(29 * SECOND);
    assert!(matches!(place.claim(&claim(B)), Verdict::InProgress { .. }));
    place.pass(SECOND);
    // Lapsed and ended at once: a new incarnation.
    let grant = place.grant(&claim(B));
    assert_eq!((grant.tries, grant.prior), (1, Prior::None));
}

// F39
#[test]
fn fences_grow_though_the_stores_clock_falls_back() {
    let mut place = Place::new();
    place.now = at(86_400_000_000);
    place.grant(&claim(A));
    place.release(A);
    place.now = at(1_000_000);
    let grant = place.grant(&claim(B));
    assert_eq!(grant.fence, 86_400_000_001);
}

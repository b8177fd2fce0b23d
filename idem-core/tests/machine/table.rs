//! Each row of the table of claims, with the values written out.

use idem_core::OnLapse;
use idem_core::machine::{Claim, Grant, Kept, Prior, Record, Recorded, Released, State, StateKind, Verdict};

use super::*;

fn granted(fence: u64, tries: u32, first_age: u64, prior: Prior, resumed: bool) -> Verdict {
    Verdict::Claimed(Grant { fence, tries, first_age: Duration::from_secs(first_age), prior, resumed })
}

/// Held by A since second 1.
fn held() -> Place {
    let mut place = Place::new();
    assert_eq!(place.claim(&claim(A)), granted(1_000_000, 1, 0, Prior::None, false));
    place
}

/// Done by A in second 11.
fn done() -> Place {
    let mut place = held();
    place.pass(10 * SECOND);
    assert_eq!(place.complete(&completion(A, "receipt")), Recorded::Stored);
    place
}

/// Released by A in second 11.
fn open() -> Place {
    let mut place = held();
    place.pass(10 * SECOND);
    assert_eq!(place.release(A), Released::Released { tries: 1 });
    place
}

// Row 1.
#[test]
fn an_absent_record_is_claimed() {
    let place = held();
    let expected = Record {
        state: State::Held { lease_at: at(31_000_000), prior: Prior::None },
        token: A,
        fence: 1_000_000,
        tries: 1,
        fingerprint: FIRST,
        made_at: at(1_000_000),
        drop_at: at(1_001_000_000),
    };
    assert_eq!(place.record, Some(expected));
}

// Row 1, of a record that has ended but was not deleted yet.
#[test]
fn a_record_past_its_end_is_claimed_as_a_new_incarnation() {
    let mut place = done();
    place.now = at(511_000_000);
    let other = Claim { fingerprint: OTHER, ..claim(B) };
    assert_eq!(place.claim(&other), granted(511_000_000, 1, 0, Prior::None, false));
    let record = place.record.unwrap();
    assert_eq!((record.tries, record.made_at, record.fingerprint), (1, at(511_000_000), OTHER));
}

// Row 1: a dead record that is still there keeps the order of grants, even if the clock has fallen behind it.
#[test]
fn a_new_incarnation_has_a_higher_fence_than_the_dead_record() {
    let mut place = Place::new();
    let mut dead = held().record.unwrap();
    dead.fence = 9_000_000_000;
    dead.drop_at = at(1);
    place.record = Some(dead);
    assert_eq!(place.claim(&claim(B)), granted(9_000_000_001, 1, 0, Prior::None, false));
}

// Row 2.
#[test]
fn another_payload_is_a_mismatch_in_every_state_but_open() {
    let other = Claim { fingerprint: OTHER, ..claim(B) };
    let none = Claim { fingerprint: None, ..claim(B) };
    for (mut place, state) in
        [(held(), StateKind::Held), (done(), StateKind::Done), (failed(), StateKind::Failed)]
    {
        for claim in [&other, &none] {
            assert_eq!(place.unchanged(|place| place.claim(claim)), Verdict::Mismatch { state });
        }
    }
}

// Row 2 stands before rows 5, 6, 7 and 8.
#[test]
fn a_mismatch_is_told_before_in_progress_spent_and_lapsed() {
    let mut place = held();
    let own = Claim { fingerprint: OTHER, ..claim(A) };
    assert_eq!(place.unchanged(|place| place.claim(&own)), Verdict::Mismatch { state: StateKind::Held });
    place.pass(30 * SECOND);
    for on_lapse in [OnLapse::Rerun, OnLapse::Park] {
        let other = Claim { fingerprint: OTHER, on_lapse, max_tries: 1, ..claim(B) };
        assert_eq!(
            place.unchanged(|place| place.claim(&other)),
            Verdict::Mismatch { state: StateKind::Held }
        );
    }
}

// Row 3.
#[test]
fn a_done_record_is_completed_with_its_result_and_its_age() {
    let mut place = done();
    let expected = Record {
        state: State::Done(Kept {
            done_at: at(11_000_000),
            body_until: at(111_000_000),
            body: Body::copy_from(b"receipt"),
        }),
        token: A,
        fence: 1_000_000,
        tries: 1,
        fingerprint: FIRST,
        made_at: at(1_000_000),
        drop_at: at(511_000_000),
    };
    assert_eq!(place.record, Some(expected));
    place.pass(40 * SECOND);
    for token in [A, B] {
        let verdict = place.unchanged(|place| place.claim(&claim(token)));
        let expected = Verdict::Completed {
            body: Some(Body::copy_from(b"receipt")),
            age: 40 * SECOND,
            valid_for: 60 * SECOND,
            skipped: false,
        };
        assert_eq!(verdict, expected);
    }
}

// Row 3, after the result's time.
#[test]
fn a_tombstone_is_completed_without_a_result() {
    let mut place = done();
    place.pass(100 * SECOND);
    let expected =
        Verdict::Completed { body: None, age: 100 * SECOND, valid_for: 400 * SECOND, skipped: false };
    assert_eq!(place.unchanged(|place| place.claim(&claim(B))), expected);
}

// Row 3 stands before row 7.
#[test]
fn a_done_record_is_never_spent() {
    let mut place = done();
    let last = Claim { max_tries: 1, ..claim(B) };
    assert!(matches!(place.unchanged(|place| place.claim(&last)), Verdict::Completed { .. }));
}

/// Failed by A in second 11.
fn failed() -> Place {
    let mut place = held();
    place.pass(10 * SECOND);
    assert_eq!(place.fail(&completion(A, "declined")), Recorded::Stored);
    place
}

// Row 4.
#[test]
fn a_failed_record_is_refused_with_its_error_and_its_age() {
    let mut place = failed();
    place.pass(3 * SECOND);
    let refused = |body, age| Verdict::Refused { body, age };
    let error = Some(Body::copy_from(b"declined"));
    assert_eq!(place.unchanged(|place| place.claim(&claim(B))), refused(error, 3 * SECOND));
    place.pass(97 * SECOND);
    assert_eq!(place.unchanged(|place| place.claim(&claim(B))), refused(None, 100 * SECOND));
}

// Row 5.
#[test]
fn the_same_attempt_is_granted_the_same_again_with_a_longer_lease() {
    let mut place = held();
    place.pass(10 * SECOND);
    assert_eq!(place.claim(&claim(A)), granted(1_000_000, 1, 10, Prior::None, true));
    let record = place.record.clone().unwrap();
    assert_eq!(record.state, State::Held { lease_at: at(41_000_000), prior: Prior::None });
    assert_eq!((record.tries, record.fence, record.made_at), (1, 1_000_000, at(1_000_000)));
    assert_eq!(record.drop_at, at(1_011_000_000));
}

// Row 5, after the lease: the same attempt, and nobody took over.
#[test]
fn the_same_attempt_is_granted_the_same_again_after_its_lease() {
    let mut place = held();
    place.pass(40 * SECOND);
    let strict = Claim { max_tries: 1, on_lapse: OnLapse::Park, ..claim(A) };
    assert_eq!(place.claim(&strict), granted(1_000_000, 1, 40, Prior::None, true));
}

// Row 5: the answer to a takeover that is sent again still says what came before.
#[test]
fn a_takeover_sent_again_still_says_that_the_one_before_lapsed() {
    let mut place = held();
    place.pass(30 * SECOND);
    assert_eq!(place.claim(&claim(B)), granted(31_000_000, 2, 30, Prior::Lapsed, false));
    assert_eq!(place.claim(&claim(B)), granted(31_000_000, 2, 30, Prior::Lapsed, true));
    assert_eq!(place.renew(B, 30 * SECOND), Renewed::Renewed { remaining: 30 * SECOND });
    assert_eq!(place.claim(&claim(B)), granted(31_000_000, 2, 30, Prior::Lapsed, true));
}

// Row 6.
#[test]
fn a_live_record_of_another_is_in_progress() {
    let mut place = held();
    place.pass(12 * SECOND);
    let expected = Verdict::InProgress { remaining: 18 * SECOND, tries: 1 };
    assert_eq!(place.unchanged(|place| place.claim(&claim(B))), expected);
    // Row 6 stands before row 7.
    let last = Claim { max_tries: 1, ..claim(B) };
    assert_eq!(place.unchanged(|place| place.claim(&last)), expected);
}

// Row 7.
#[test]
fn a_message_tried_often_enough_is_spent_whether_released_or_lapsed() {
    let last = Claim { max_tries: 1, ..claim(B) };
    let mut place = open();
    place.pass(SECOND);
    let spent = |first_age| Verdict::Spent { tries: 1, first_age };
    assert_eq!(place.unchanged(|place| place.claim(&last)), spent(11 * SECOND));
    let mut place = held();
    place.pass(30 * SECOND);
    assert_eq!(place.unchanged(|place| place.claim(&last)), spent(30 * SECOND));
    // Row 7 stands before row 8b.
    let parks = Claim { on_lapse: OnLapse::Park, ..last };
    assert_eq!(place.unchanged(|place| place.claim(&parks)), spent(30 * SECOND));
}

// Row 7: three tries are three grants.
#[test]
fn as_many_grants_as_tries_and_no_more() {
    let mut place = Place::new();
    for tries in 1..=3 {
        let grant = place.grant(&claim(A));
        assert_eq!(grant.tries, tries);
        assert_eq!(place.release(A), Released::Released { tries });
    }
    assert_eq!(place.claim(&claim(A)), Verdict::Spent { tries: 3, first_age: Duration::ZERO });
}

// Row 7, where the broker counts instead.
#[test]
fn the_largest_number_of_tries_is_no_limit() {
    let mut place = open();
    let mut record = place.record.clone().unwrap();
    record.tries = u32::MAX - 1;
    place.record = Some(record);
    let unlimited = Claim { max_tries: u32::MAX, ..claim(B) };
    assert_eq!(place.claim(&unlimited), granted(11_000_000, u32::MAX, 10, Prior::Released, false));
}

// Row 8a.
#[test]
fn a_lapsed_record_is_taken_over() {
    let mut place = held();
    place.pass(30 * SECOND);
    assert_eq!(place.claim(&claim(B)), granted(31_000_000, 2, 30, Prior::Lapsed, false));
    let expected = Record {
        state: State::Held { lease_at: at(61_000_000), prior: Prior::Lapsed },
        token: B,
        fence: 31_000_000,
        tries: 2,
        fingerprint: FIRST,
        made_at: at(1_000_000),
        drop_at: at(1_031_000_000),
    };
    assert_eq!(place.record, Some(expected));
}

// Row 8b.
#[test]
fn a_lapsed_record_waits_for_a_person_if_it_is_to_be_parked() {
    let mut place = held();
    place.pass(31 * SECOND);
    let parks = Claim { on_lapse: OnLapse::Park, ..claim(B) };
    let expected = Verdict::Lapsed { tries: 1, first_age: 31 * SECOND };
    assert_eq!(place.unchanged(|place| place.claim(&parks)), expected);
    // What was given back is no lapse.
    let mut place = open();
    assert_eq!(place.claim(&parks), granted(11_000_000, 2, 10, Prior::Released, false));
}

// Row 9.
#[test]
fn an_open_record_is_claimed_with_its_count_going_on_and_a_new_payload() {
    let mut place = open();
    place.pass(SECOND);
    let mended = Claim { fingerprint: OTHER, ..claim(B) };
    assert_eq!(place.claim(&mended), granted(12_000_000, 2, 11, Prior::Released, false));
    let expected = Record {
        state: State::Held { lease_at: at(42_000_000), prior: Prior::Released },
        token: B,
        fence: 12_000_000,
        tries: 2,
        fingerprint: OTHER,
        made_at: at(1_000_000),
        drop_at: at(1_012_000_000),
    };
    assert_eq!(place.record, Some(expected));
}

//! Each row of the table of operations, with the values written out.

use idem_core::machine::{Kept, State, StateKind};

use super::*;

/// Held by A since second 1, until second 31.
fn held() -> Place {
    let mut place = Place::new();
    assert!(matches!(place.claim(&claim(A)), Verdict::Claimed(_)));
    place
}

/// Held by A, lapsed, and held by B since second 31.
fn taken_over() -> Place {
    let mut place = held();
    place.pass(30 * SECOND);
    assert!(matches!(place.claim(&claim(B)), Verdict::Claimed(_)));
    place
}

const RENEWED: Renewed = Renewed::Renewed { remaining: Duration::from_secs(20) };

#[test]
fn renew_extends_the_owners_lease_lapsed_or_not() {
    let mut place = held();
    for (now, lease_at) in [(11_000_000, 31_000_000), (11_000_000, 31_000_000), (90_000_000, 110_000_000)] {
        place.now = at(now);
        assert_eq!(place.renew(A, 20 * SECOND), RENEWED);
        let State::Held { lease_at: until, .. } = place.record.clone().unwrap().state else { panic!() };
        assert_eq!(until, at(lease_at));
    }
}

#[test]
fn renew_says_lost_to_all_others_and_changes_nothing() {
    let lost = Renewed::Lost;
    let renew = |place: &mut Place, token| place.unchanged(|place| place.renew(token, 20 * SECOND));
    assert_eq!(renew(&mut Place::new(), A), lost(None));
    assert_eq!(renew(&mut held(), B), lost(Some(StateKind::Held)));
    assert_eq!(renew(&mut taken_over(), A), lost(Some(StateKind::Held)));

    let mut done = held();
    done.complete(&completion(A, ""));
    assert_eq!(renew(&mut done, A), lost(Some(StateKind::Done)));
    let mut failed = held();
    failed.fail(&completion(A, ""));
    assert_eq!(renew(&mut failed, A), lost(Some(StateKind::Failed)));
    let mut open = held();
    open.release(A);
    assert_eq!(renew(&mut open, A), lost(Some(StateKind::Open)));

    let mut ended = held();
    ended.now = at(1_001_000_000);
    assert_eq!(renew(&mut ended, A), lost(None));
}

#[test]
fn complete_records_what_its_owner_did_lapsed_or_not() {
    for seconds in [0, 29, 30, 31, 900] {
        let mut place = held();
        place.pass(seconds * SECOND);
        assert_eq!(place.complete(&completion(A, "receipt")), Recorded::Stored);
        let record = place.record.clone().unwrap();
        let now = place.now;
        let kept =
            Kept { done_at: now, body_until: now.after(100 * SECOND), body: Body::copy_from(b"receipt") };
        assert_eq!(record.state, State::Done(kept));
        assert_eq!((record.token, record.fence, record.tries), (A, 1_000_000, 1));
        assert_eq!((record.made_at, record.drop_at), (at(1_000_000), now.after(500 * SECOND)));
    }
}

#[test]
fn complete_sent_again_is_stored_and_keeps_the_first_result() {
    let mut place = held();
    assert_eq!(place.complete(&completion(A, "first")), Recorded::Stored);
    place.pass(SECOND);
    assert_eq!(place.unchanged(|place| place.complete(&completion(A, "second"))), Recorded::Stored);
}

#[test]
fn complete_makes_a_record_that_is_gone_anew() {
    let mut swept = Place::new();
    let mut ended = held();
    ended.now = at(1_001_000_000);
    swept.now = ended.now;
    for mut place in [swept, ended] {
        assert_eq!(place.complete(&completion(A, "receipt")), Recorded::Recreated);
        let record = place.record.clone().unwrap();
        assert_eq!(record.state.kind(), StateKind::Done);
        assert_eq!((record.token, record.fence, record.tries, record.fingerprint), (A, 7, 1, FIRST));
        assert_eq!((record.made_at, record.drop_at), (at(1_001_000_000), at(1_501_000_000)));
        assert_eq!(place.unchanged(|place| place.complete(&completion(A, "receipt"))), Recorded::Stored);
        assert!(matches!(place.claim(&claim(B)), Verdict::Completed { body: Some(_), .. }));
    }
}

#[test]
fn complete_never_overwrites_another_attempts_record() {
    let superseded = |state, fence| Recorded::Superseded { state, fence };
    let late = |place: &mut Place| place.unchanged(|place| place.complete(&completion(A, "late")));
    let mut place = taken_over();
    assert_eq!(late(&mut place), superseded(StateKind::Held, 31_000_000));
    place.release(B);
    assert_eq!(late(&mut place), superseded(StateKind::Open, 31_000_000));
    place.grant(&claim(C));
    place.fail(&completion(C, "no"));
    assert_eq!(late(&mut place), superseded(StateKind::Failed, 31_000_001));
    let mut place = taken_over();
    place.complete(&completion(B, "receipt"));
    assert_eq!(late(&mut place), superseded(StateKind::Done, 31_000_000));
}

#[test]
fn complete_after_the_attempts_own_release_or_failure_is_superseded() {
    let mut place = held();
    place.release(A);
    let expected = |state| Recorded::Superseded { state, fence: 1_000_000 };
    let complete = |place: &mut Place| place.unchanged(|place| place.complete(&completion(A, "")));
    assert_eq!(complete(&mut place), expected(StateKind::Open));
    let mut place = held();
    place.fail(&completion(A, ""));
    assert_eq!(complete(&mut place), expected(StateKind::Failed));
}

#[test]
fn a_record_lives_at_least_as_long_as_its_result() {
    let mut place = held();
    let short = Completion { keep: SECOND, ..completion(A, "") };
    place.complete(&short);
    assert_eq!(place.record.unwrap().drop_at, at(101_000_000));
}

#[test]
fn fail_records_its_owners_error_lapsed_or_not() {
    for seconds in [0, 30, 900] {
        let mut place = held();
        place.pass(seconds * SECOND);
        let now = place.now;
        assert_eq!(place.fail(&completion(A, "declined")), Recorded::Stored);
        let kept =
            Kept { done_at: now, body_until: now.after(100 * SECOND), body: Body::copy_from(b"declined") };
        assert_eq!(place.record.clone().unwrap().state, State::Failed(kept));
        assert_eq!(place.record.clone().unwrap().drop_at, now.after(500 * SECOND));
        assert_eq!(place.unchanged(|place| place.fail(&completion(A, "again"))), Recorded::Stored);
    }
}

#[test]
fn fail_does_not_make_a_record_anew() {
    let mut place = Place::new();
    assert_eq!(place.unchanged(|place| place.fail(&completion(A, ""))), Recorded::Gone);
    let mut place = held();
    place.now = at(1_001_000_000);
    assert_eq!(place.unchanged(|place| place.fail(&completion(A, ""))), Recorded::Gone);
}

#[test]
fn fail_never_overwrites_another_attempts_record_nor_a_success() {
    let mut place = taken_over();
    let fail = |place: &mut Place| place.unchanged(|place| place.fail(&completion(A, "")));
    assert_eq!(fail(&mut place), Recorded::Superseded { state: StateKind::Held, fence: 31_000_000 });
    let mut place = held();
    place.complete(&completion(A, ""));
    assert_eq!(fail(&mut place), Recorded::Superseded { state: StateKind::Done, fence: 1_000_000 });
}

#[test]
fn release_opens_the_record_and_keeps_its_count_lapsed_or_not() {
    for seconds in [0, 30, 900] {
        let mut place = held();
        place.pass(seconds * SECOND);
        assert_eq!(place.release(A), Released::Released { tries: 1 });
        let record = place.record.clone().unwrap();
        assert_eq!(record.state, State::Open);
        assert_eq!((record.token, record.fence, record.tries), (A, 1_000_000, 1));
        assert_eq!((record.made_at, record.drop_at), (at(1_000_000), at(1_001_000_000)));
        assert_eq!(place.unchanged(|place| place.release(A)), Released::Released { tries: 1 });
    }
}

#[test]
fn release_of_what_is_not_held_by_the_attempt_is_superseded() {
    let mut done = held();
    done.complete(&completion(A, ""));
    let mut failed = held();
    failed.fail(&completion(A, ""));
    let mut ended = held();
    ended.now = at(1_001_000_000);
    let mut reopened = taken_over();
    reopened.release(B);
    for mut place in [Place::new(), taken_over(), done, failed, ended, reopened] {
        assert_eq!(place.unchanged(|place| place.release(A)), Released::Superseded);
    }
}

#[test]
fn forget_deletes_all_but_a_live_claim() {
    let mut place = held();
    place.pass(12 * SECOND);
    let still = Forgotten::StillHeld { remaining: 18 * SECOND };
    assert_eq!(place.unchanged(|place| place.forget(false)), still);
    let Forgotten::Forgotten(was) = place.clone().forget(true) else { panic!() };
    assert_eq!((was.state, was.lease), (StateKind::Held, Some(18 * SECOND)));

    let mut lapsed = held();
    lapsed.pass(30 * SECOND);
    let mut open = held();
    open.release(A);
    let mut done = held();
    done.complete(&completion(A, "receipt"));
    let mut failed = held();
    failed.fail(&completion(A, "declined"));
    let cases = [
        (lapsed, StateKind::Held),
        (open, StateKind::Open),
        (done, StateKind::Done),
        (failed, StateKind::Failed),
    ];
    for (mut place, state) in cases {
        let looked = place.inspect().unwrap();
        assert_eq!(looked.state, state);
        assert_eq!(place.forget(false), Forgotten::Forgotten(looked));
        assert_eq!(place.record, None);
        assert_eq!(place.forget(false), Forgotten::Absent);
    }
}

#[test]
fn forget_finds_nothing_where_nothing_is_left() {
    assert_eq!(Place::new().forget(true), Forgotten::Absent);
    let mut ended = held();
    ended.now = at(1_001_000_000);
    assert_eq!(ended.forget(false), Forgotten::Absent);
}

#[test]
fn inspect_shows_the_record_and_changes_nothing() {
    let mut place = held();
    place.pass(12 * SECOND);
    let held = Snapshot {
        state: StateKind::Held,
        fence: 1_000_000,
        tries: 1,
        first_age: 12 * SECOND,
        lease: Some(18 * SECOND),
        done_age: None,
        body: None,
        fingerprint: FIRST,
        ends_in: 988 * SECOND,
    };
    assert_eq!(place.unchanged(Place::inspect), Some(held.clone()));
    place.complete(&completion(A, "receipt"));
    place.pass(SECOND);
    let done = Snapshot {
        state: StateKind::Done,
        first_age: 13 * SECOND,
        lease: None,
        done_age: Some(SECOND),
        body: Some(Body::copy_from(b"receipt")),
        ends_in: 499 * SECOND,
        ..held
    };
    assert_eq!(place.unchanged(Place::inspect), Some(done.clone()));
    place.pass(99 * SECOND);
    let tombstone = Snapshot {
        first_age: 112 * SECOND,
        done_age: Some(100 * SECOND),
        body: None,
        ends_in: 400 * SECOND,
        ..done
    };
    assert_eq!(place.unchanged(Place::inspect), Some(tombstone));
    place.pass(400 * SECOND);
    assert_eq!(place.unchanged(Place::inspect), None);
}

#[test]
fn inspect_shows_a_lapsed_lease_as_zero() {
    let mut place = held();
    place.pass(30 * SECOND);
    assert_eq!(place.inspect().unwrap().lease, Some(Duration::ZERO));
}

//! A record in the handler's own transaction: what is entered, what becomes of it, and that a claim would have said the same.

use idem_core::machine::{Entry, Kept, Prior, Settlement, State, StateKind, enter, settle};

use super::*;

/// What a handler enters whose result is replayed for 100 s, and whose record lives for 500 s.
fn entry(token: Token) -> Entry {
    Entry {
        id: RecordId::from_bytes([0; 32]),
        token,
        fingerprint: FIRST,
        body: Body::copy_from(b"pending"),
        ttl: 100 * SECOND,
        keep: 500 * SECOND,
    }
}

fn entered(place: &Place, entry: &Entry) -> (Grant, Record) {
    match enter(place.record.as_ref(), entry, place.now) {
        (Verdict::Claimed(grant), Change::Put(record)) => (grant, record),
        other => panic!("not entered: {other:?}"),
    }
}

/// A record in each state that another mode of a handler can leave.
fn all() -> Vec<(&'static str, Place)> {
    let held = || {
        let mut place = Place::new();
        place.grant(&claim(A));
        place
    };
    let mut open = held();
    open.release(A);
    let mut done = held();
    done.complete(&completion(A, "receipt"));
    let mut failed = held();
    failed.fail(&completion(A, "declined"));
    let mut lapsed = held();
    lapsed.pass(30 * SECOND);
    let mut dead = held();
    dead.pass(1_000 * SECOND);
    let mut spent = held();
    for token in [B, C, A, B] {
        spent.release(spent.record.as_ref().unwrap().token);
        let patient = Claim { max_tries: u32::MAX, ..claim(token) };
        spent.grant(&patient);
    }
    spent.pass(30 * SECOND);
    vec![
        ("absent", Place::new()),
        ("held", held()),
        ("open", open),
        ("done", done),
        ("failed", failed),
        ("lapsed", lapsed),
        ("dead", dead),
        ("tried often", spent),
    ]
}

#[test]
fn an_entry_is_a_claim_and_its_completion_at_one_instant() {
    for (name, place) in all() {
        let mut step_by_step = place.clone();
        let patient = Claim { max_tries: u32::MAX, keep: 500 * SECOND, ..claim(C) };
        let verdict = step_by_step.claim(&patient);
        let entry = entry(C);
        let (told, change) = enter(place.record.as_ref(), &entry, place.now);
        assert_eq!(told, verdict, "{name}");
        let Verdict::Claimed(_) = verdict else {
            assert_eq!(change, Change::None, "{name}");
            continue;
        };
        let completion = Completion { body: entry.body.clone(), ..completion(C, "") };
        assert_eq!(step_by_step.complete(&completion), Recorded::Stored, "{name}");
        assert_eq!(change, Change::Put(step_by_step.record.unwrap()), "{name}");
    }
}

#[test]
fn an_entered_record_answers_all_later_claims() {
    for (name, mut place) in all() {
        let (verdict, change) = enter(place.record.as_ref(), &entry(C), place.now);
        let Change::Put(record) = change else { continue };
        assert!(matches!(verdict, Verdict::Claimed(_)), "{name}");
        place.record = Some(record);
        place.pass(99 * SECOND);
        let later = place.unchanged(|place| place.claim(&claim(B)));
        assert!(matches!(later, Verdict::Completed { body: Some(_), .. }), "{name}: {later:?}");
        assert!(matches!(enter(place.record.as_ref(), &entry(B), place.now).1, Change::None), "{name}");
        place.pass(SECOND);
        assert!(matches!(place.claim(&claim(B)), Verdict::Completed { body: None, .. }), "{name}");
        place.pass(400 * SECOND);
        place.grant(&claim(B));
    }
}

#[test]
fn another_payload_is_told_so_first() {
    let mut place = Place::new();
    place.grant(&claim(A));
    let other = Entry { fingerprint: OTHER, ..entry(B) };
    let told = enter(place.record.as_ref(), &other, place.now);
    assert_eq!(told, (Verdict::Mismatch { state: StateKind::Held }, Change::None));
}

#[test]
fn a_result_takes_the_place_that_was_kept_for_it() {
    let place = Place::new();
    let (grant, record) = entered(&place, &entry(A));
    assert_eq!(grant.prior, Prior::None);
    let kept = |body: &[u8]| {
        State::Done(Kept { done_at: at(1_000_000), body_until: at(101_000_000), body: Body::copy_from(body) })
    };
    assert_eq!(record.state, kept(b"pending"));
    let settlement = Settlement::Done(Body::copy_from(b"receipt"));
    let settled = settle(&record, None, &settlement, at(5_000_000));
    assert_eq!(settled, Change::Put(Record { state: kept(b"receipt"), ..record }));
}

#[test]
fn an_error_worth_remembering_has_its_own_time() {
    let (_, record) = entered(&Place::new(), &entry(A));
    let body = Body::copy_from(b"declined");
    let settlement = Settlement::Failed { body: body.clone(), ttl: 60 * SECOND };
    let state = State::Failed(Kept { done_at: at(5_000_000), body_until: at(65_000_000), body });
    let failed = Record { state, drop_at: at(65_000_000), ..record.clone() };
    assert_eq!(settle(&record, None, &settlement, at(5_000_000)), Change::Put(failed));
}

#[test]
fn what_is_withdrawn_leaves_what_was_there_before() {
    for (name, place) in all() {
        let (_, change) = enter(place.record.as_ref(), &entry(C), place.now);
        let Change::Put(record) = change else { continue };
        let withdrawn = settle(&record, place.record.as_ref(), &Settlement::Withdrawn, place.now);
        let before = place.record.map_or(Change::Remove, Change::Put);
        assert_eq!(withdrawn, before, "{name}");
    }
}

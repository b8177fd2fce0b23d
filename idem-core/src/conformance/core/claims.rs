//! Who runs: the lines of the table for records of one payload.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{DAY, MINUTE, PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, OnLapse, Prior, Recorded, Released, StateKind, Verdict};

checks! {
    $ __conformance_core_claims, "core", Fixture;


    /// Table: absent → Claimed, tries 1; Held, a new incarnation.
    fn a_first_claim_is_granted(store) {
        let first = message();
        let grant = store.grant(&first);
        store.equal("the grant's tries", grant.tries, 1);
        store.equal("the grant's prior", grant.prior, Prior::None);
        store.equal("whether the grant is resumed", grant.resumed, false);
        store.holds("an age of nothing yet", grant.first_age < MINUTE, &grant);
        let held = store.is(&first, StateKind::Held);
        store.equal("the record's fence", held.fence, grant.fence);
        store.equal("the record's tries", held.tries, 1);
        store.equal("the record's payload", held.fingerprint, PAYLOAD);
        store.holds(
            "a lease of at most a minute",
            held.lease.is_some_and(|lease| !lease.is_zero() && lease <= MINUTE),
            &held,
        );
        store.holds("an end within a day", held.ends_in > DAY - MINUTE && held.ends_in <= DAY, &held);
        store.holds("no result", held.body.is_none() && held.done_age.is_none(), &held);
    }

    /// Table: Held by another, `now < lease_at` → `InProgress`; changes nothing.
    fn a_running_message_is_in_progress(store) {
        let first = message();
        let grant = store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        must_be!(store, store.claim(&again(&first)),
            Verdict::InProgress { remaining, tries: 1 } if !remaining.is_zero() && remaining <= MINUTE);
        store.is_unchanged(&first, &before);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
    }

    /// Table: Done → Completed; changes nothing. I2: no run after success.
    fn a_finished_message_is_replayed(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"receipt 7")), Recorded::Stored);
        let before = store.is(&first, StateKind::Done);
        for _ in 0..3 {
            let body = must_be!(store, store.claim(&again(&first)),
                Verdict::Completed { body, age, valid_for, .. } if age < MINUTE && valid_for <= 60 * MINUTE => body);
            store.brings(body.as_ref(), b"receipt 7");
        }
        store.is_unchanged(&first, &before);
    }

    /// Table: Failed → Refused; changes nothing.
    fn a_remembered_error_is_refused(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"card declined")), Recorded::Stored);
        let before = store.is(&first, StateKind::Failed);
        let body = must_be!(store, store.claim(&again(&first)),
            Verdict::Refused { body, age } if age < MINUTE => body);
        store.brings(body.as_ref(), b"card declined");
        store.is_unchanged(&first, &before);
    }

    /// Table: Held by another, lapsed, `on_lapse` is `Rerun` → Claimed, higher fence, tries + 1, prior Lapsed; held by the new
    /// token. I6: if the holder stops, a later claim succeeds after at most its lease.
    fn an_expired_lease_is_taken_over(store) {
        let first = lapsing();
        let before = store.grant(&first);
        let second = again(&first);
        let grant = store.grant(&second);
        store.equal("the grant's tries", grant.tries, 2);
        store.equal("the grant's prior", grant.prior, Prior::Lapsed);
        store.equal("whether the grant is resumed", grant.resumed, false);
        store.holds("a fence above the first", grant.fence > before.fence, &(before, grant));
        store.equal("the record's fence", store.is(&second, StateKind::Held).fence, grant.fence);
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { tries: 2, .. });
    }

    /// Table: Held by another, lapsed, `on_lapse` is `Park` → Lapsed; changes nothing.
    fn an_expired_lease_is_parked_for_those_who_ask(store) {
        let first = lapsing();
        store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        let parked = Claim { on_lapse: OnLapse::Park, ..again(&first) };
        must_be!(store, store.claim(&parked), Verdict::Lapsed { tries: 1, first_age } if first_age < MINUTE);
        store.is_unchanged(&first, &before);
        store.equal("the tries of one who reruns", store.grant(&again(&first)).tries, 2);
    }

    /// Table: Open → Claimed, higher fence, tries + 1, prior Released.
    fn a_released_message_runs_at_once(store) {
        let first = message();
        let before = store.grant(&first);
        must_be!(store, store.release(&first), Released::Released { tries: 1 });
        let parked = Claim { on_lapse: OnLapse::Park, ..again(&first) };
        let grant = store.grant(&parked);
        store.equal("the grant's tries", grant.tries, 2);
        store.equal("the grant's prior", grant.prior, Prior::Released);
        store.holds("a fence above the first", grant.fence > before.fence, &(before, grant));
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { tries: 2, .. });
    }

    /// Table: Held by the same token → Claimed, same fence and tries, resumed.
    fn a_claim_sent_again_is_resumed(store) {
        let first = message();
        let grant = store.grant(&first);
        for _ in 0..3 {
            let resumed = store.grant(&first);
            store.equal("the fence", resumed.fence, grant.fence);
            store.equal("the tries", resumed.tries, 1);
            store.equal("the prior", resumed.prior, Prior::None);
            store.equal("whether it is resumed", resumed.resumed, true);
        }
        store.equal("the record's tries", store.is(&first, StateKind::Held).tries, 1);
    }

    /// Table: Held by the same token → resumed, with the answer of the first time: how the attempt before ended is part of it.
    fn a_takeover_sent_again_still_says_how_the_attempt_before_ended(store) {
        let lapsed = lapsing();
        store.grant(&lapsed);
        let second = again(&lapsed);
        let grant = store.grant(&second);
        let resumed = store.grant(&second);
        store.equal("the fence", resumed.fence, grant.fence);
        store.equal("the prior after a lapse", (resumed.prior, resumed.tries), (Prior::Lapsed, 2));
        must_be!(store, store.release(&second), Released::Released { tries: 2 });
        let third = again(&lapsed);
        store.grant(&third);
        let resumed = store.grant(&third);
        store.equal("the prior after a release", (resumed.prior, resumed.tries), (Prior::Released, 3));
    }

    /// Table: Held by the same token → resumed, even if its lease has lapsed or it asks to be parked: it is its own.
    fn a_lapsed_claim_sent_again_is_resumed(store) {
        let first = Claim { on_lapse: OnLapse::Park, ..lapsing() };
        let grant = store.grant(&first);
        let resumed = store.grant(&Claim { lease: MINUTE, ..first.clone() });
        store.equal("the grant", (resumed.fence, resumed.tries, resumed.resumed), (grant.fence, 1, true));
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { .. });
    }

    /// Table: `drop_at <= now` → as if absent: Claimed, tries 1. Whether or not the record has been deleted.
    fn a_record_that_has_ended_counts_as_absent(store) {
        let first = Claim { keep: Duration::ZERO, ..lapsing() };
        let before = store.grant(&first);
        store.is_absent(&first);
        // Neither its payload nor its tries count any more.
        let second = Claim { fingerprint: None, max_tries: 1, on_lapse: OnLapse::Park, ..again(&first) };
        let grant = store.grant(&second);
        store.equal("the grant", (grant.tries, grant.prior, grant.resumed), (1, Prior::None, false));
        store.holds("a fence above the first", grant.fence > before.fence, &(before, grant));
    }

    /// A record never ends before its lease: a short `keep` is stretched by the lease, at the grant.
    fn a_record_lives_as_long_as_its_lease(store) {
        let first = Claim { keep: Duration::ZERO, ..message() };
        store.grant(&first);
        must_be!(
            store,
            store.claim(&Claim { keep: Duration::ZERO, ..again(&first) }),
            Verdict::InProgress { .. }
        );
        let held = store.is(&first, StateKind::Held);
        store.holds("an end not before the lease's", Some(held.ends_in) >= held.lease, &held);
        // A takeover and a resumed claim are grants too.
        let lapsed = Claim { keep: DAY, ..lapsing() };
        store.grant(&lapsed);
        let second = Claim { keep: Duration::ZERO, ..again(&lapsed) };
        store.grant(&second);
        store.grant(&second);
        must_be!(store, store.claim(&again(&lapsed)), Verdict::InProgress { tries: 2, .. });
    }

    /// Whether a grant must survive power loss changes when the answer comes, and not what it is.
    fn a_durable_claim_gets_the_same_answers(store) {
        let first = Claim { durable: true, ..lapsing() };
        store.equal("the first tries", store.grant(&first).tries, 1);
        let second = Claim { durable: true, ..again(&first) };
        let grant = store.grant(&second);
        store.equal("the takeover", (grant.tries, grant.prior), (2, Prior::Lapsed));
        must_be!(store, store.claim(&Claim { durable: true, ..again(&first) }), Verdict::InProgress { .. });
    }
}

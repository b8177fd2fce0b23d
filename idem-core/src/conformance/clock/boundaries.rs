//! One step before an end, and at it. Ends are exclusive: at `lease_at` a lease has lapsed, at `drop_at` a record is gone, at
//! `body_until` a result is.

use super::super::checks::{checks, must_be};
use super::super::fixture::MovesClock;
use super::super::messages::{DAY, MINUTE, OTHER_PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{
    Claim, Completion, Forgotten, OnLapse, Prior, Recorded, Released, Renewed, StateKind, Verdict,
};

checks! {
    $ __conformance_clock_boundaries, "clock", MovesClock;


    /// At `lease_at` a lease has lapsed, and one step before it has not.
    fn a_lease_ends_on_the_dot(store, clock) {
        let first = message();
        let before = store.grant(&first);
        clock.advance(MINUTE - clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining, tries: 1 } if remaining == clock.tick());
        must_be!(store, store.forget(&first, false), Forgotten::StillHeld { remaining } if remaining == clock.tick());
        store.equal("the lease", store.is(&first, StateKind::Held).lease, Some(clock.tick()));
        clock.advance(clock.tick());
        store.equal("the lease", store.is(&first, StateKind::Held).lease, Some(std::time::Duration::ZERO));
        let parked = Claim { on_lapse: OnLapse::Park, ..again(&first) };
        must_be!(store, store.claim(&parked), Verdict::Lapsed { tries: 1, first_age } if first_age == MINUTE);
        let grant = store.grant(&again(&first));
        store.equal("the takeover", (grant.tries, grant.prior, grant.first_age), (2, Prior::Lapsed, MINUTE));
        store.holds("a fence above the first", grant.fence > before.fence, &(before, grant));
    }

    /// For an operator too: at `lease_at` a claim is no longer live.
    fn a_claim_can_be_forgotten_at_the_end_of_its_lease(store, clock) {
        let first = message();
        store.grant(&first);
        clock.advance(MINUTE);
        must_be!(store, store.forget(&first, false), Forgotten::Forgotten(_));
        store.is_absent(&first);
    }

    /// At `drop_at` a claim that nobody took over is gone, and one step before it is there.
    fn a_held_record_ends_on_the_dot(store, clock) {
        let first = message();
        let before = store.grant(&first);
        clock.advance(DAY - clock.tick());
        let held = store.is(&first, StateKind::Held);
        store.equal("what is left of it", held.ends_in, clock.tick());
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Held });
        clock.advance(clock.tick());
        store.is_absent(&first);
        let grant = store.grant(&other);
        store.equal(
            "the grant",
            (grant.tries, grant.prior, grant.first_age),
            (1, Prior::None, std::time::Duration::ZERO),
        );
        store.holds("a fence above the first", grant.fence > before.fence, &(before, grant));
    }

    /// At `drop_at` a success is gone, and one step before it is Completed.
    fn a_finished_record_ends_on_the_dot(store, clock) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        clock.advance(DAY - clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { body: None, age, .. } if age == DAY - clock.tick());
        clock.advance(clock.tick());
        store.is_absent(&first);
        let next = store.grant(&again(&first));
        store.equal("the grant", (next.tries, next.prior), (1, Prior::None));
        store.holds("a fence above the first", next.fence > grant.fence, &(grant, next));
    }

    /// At `drop_at` an error is gone, and one step before it is Refused.
    fn a_remembered_error_ends_on_the_dot(store, clock) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"no")), Recorded::Stored);
        clock.advance(DAY - clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::Refused { body: None, age } if age == DAY - clock.tick());
        clock.advance(clock.tick());
        store.is_absent(&first);
        store.equal("the tries", store.grant(&again(&first)).tries, 1);
    }

    /// At `drop_at` a released message is gone, and with it its tries; one step before they count.
    fn a_released_record_ends_on_the_dot(store, clock) {
        for (wait, tries) in [(DAY - clock.tick(), 2), (DAY, 1)] {
            let first = message();
            store.grant(&first);
            must_be!(store, store.release(&first), Released::Released { .. });
            clock.advance(wait);
            store.equal("the tries", store.grant(&again(&first)).tries, tries);
        }
    }

    /// At `body_until` a result is gone and its tombstone stays; one step before the result is there.
    fn a_result_ends_on_the_dot(store, clock) {
        for fails in [false, true] {
            let first = message();
            let grant = store.grant(&first);
            let ending = Completion { ttl: 60 * MINUTE, ..ending(&first, grant.fence, b"for an hour") };
            let recorded = if fails { store.fail(&ending) } else { store.complete(&ending) };
            must_be!(store, recorded, Recorded::Stored);
            for (step, body) in
                [(60 * MINUTE - clock.tick(), Some(&b"for an hour"[..])), (clock.tick(), None)]
            {
                clock.advance(step);
                let found = match store.claim(&again(&first)) {
                    Verdict::Completed { body, .. } if !fails => body,
                    Verdict::Refused { body, .. } if fails => body,
                    other => store.broken("Completed or Refused, as it was recorded", &other),
                };
                store.equal("the body of the answer", found.as_deref(), body);
                let kind = if fails { StateKind::Failed } else { StateKind::Done };
                store.equal("the body of the record", store.is(&first, kind).body.as_deref(), body);
            }
        }
    }

    /// A record past its `drop_at` counts as absent for every operation, whether or not the store has deleted it.
    fn an_ended_record_counts_as_absent_for_every_operation(store, clock) {
        let all: Vec<_> = (0..6).map(|_| message()).collect();
        let fences: Vec<_> = all.iter().map(|claim| store.grant(claim).fence).collect();
        clock.advance(DAY);
        must_be!(store, store.renew(&all[0], MINUTE), Renewed::Lost(None));
        must_be!(store, store.release(&all[1]), Released::Superseded);
        must_be!(store, store.fail(&ending(&all[2], fences[2], b"no")), Recorded::Gone);
        must_be!(store, store.forget(&all[3], false), Forgotten::Absent);
        must_be!(store, store.complete(&ending(&all[4], fences[4], b"done")), Recorded::Recreated);
        let done = store.is(&all[4], StateKind::Done);
        store.equal(
            "the record made anew",
            (done.fence, done.tries, done.first_age),
            (fences[4], 1, std::time::Duration::ZERO),
        );
        // Not even by the token that held it.
        let grant = store.grant(&all[5]);
        store.equal("the grant", (grant.tries, grant.prior, grant.resumed), (1, Prior::None, false));
        for claim in &all[..4] {
            store.is_absent(claim);
        }
    }

    /// Completion checks ownership and not the lease's clock, up to the end of the record.
    fn a_completion_counts_until_the_record_ends(store, clock) {
        let first = message();
        let grant = store.grant(&first);
        clock.advance(DAY - clock.tick());
        must_be!(store, store.complete(&ending(&first, grant.fence, b"very late")), Recorded::Stored);
        let done = store.is(&first, StateKind::Done);
        store.equal("the first attempt's age", done.first_age, DAY - clock.tick());
    }

    /// A lease of one step is one: it is held now, and lapsed a step later.
    fn the_shortest_lease_lasts_one_step(store, clock) {
        let first = Claim { lease: clock.tick(), ..message() };
        store.grant(&first);
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining, .. } if remaining == clock.tick());
        clock.advance(clock.tick());
        store.equal("the tries", store.grant(&again(&first)).tries, 2);
        let none = lapsing();
        store.grant(&none);
        store.equal("the tries after no lease at all", store.grant(&again(&none)).tries, 2);
    }
}

//! What an operator does: looks, deletes, sweeps.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{DAY, MINUTE, PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Completion, Forgotten, Recorded, Released, Snapshot, StateKind, Verdict};

checks! {
    $ __conformance_core_operator, "core", Fixture;


    /// inspect looks at a record and changes nothing.
    fn a_look_changes_nothing(store) {
        let first = lapsing();
        store.is_absent(&first);
        store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        store.equal("a lapsed lease", before.lease, Some(Duration::ZERO));
        for _ in 0..5 {
            store.is_unchanged(&first, &before);
        }
        store.equal("the next tries", store.grant(&again(&first)).tries, 2);
    }

    /// forget deletes a live claim only with `force`: `StillHeld`, and nothing is changed.
    fn a_live_claim_is_forgotten_only_by_force(store) {
        let first = message();
        let grant = store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        must_be!(store, store.forget(&first, false),
            Forgotten::StillHeld { remaining } if remaining <= MINUTE && !remaining.is_zero());
        store.is_unchanged(&first, &before);
        let was = must_be!(store, store.forget(&first, true), Forgotten::Forgotten(snapshot) => snapshot);
        store.equal("what it was", (was.state, was.fence, was.tries), (StateKind::Held, grant.fence, 1));
        store.is_absent(&first);
        store.equal("the tries of the next", store.grant(&again(&first)).tries, 1);
    }

    /// forget deletes what nobody holds, and says what it was: a lapsed claim, a released message, a success, an error.
    fn what_nobody_holds_is_forgotten(store) {
        let (lapsed, open, done, failed) = (lapsing(), message(), message(), message());
        store.grant(&lapsed);
        store.grant(&open);
        must_be!(store, store.release(&open), Released::Released { .. });
        let grant = store.grant(&done);
        must_be!(store, store.complete(&ending(&done, grant.fence, b"done")), Recorded::Stored);
        let grant = store.grant(&failed);
        must_be!(store, store.fail(&ending(&failed, grant.fence, b"failed")), Recorded::Stored);
        let all = [
            (lapsed, StateKind::Held, None),
            (open, StateKind::Open, None),
            (done, StateKind::Done, Some(&b"done"[..])),
            (failed, StateKind::Failed, Some(&b"failed"[..])),
        ];
        for (claim, state, body) in all {
            let before = store.is(&claim, state);
            let was: Snapshot =
                must_be!(store, store.forget(&claim, false), Forgotten::Forgotten(snapshot) => snapshot);
            store.equal(
                "what it was",
                (was.state, was.fence, was.tries, was.fingerprint),
                (state, before.fence, 1, PAYLOAD),
            );
            store.equal("its body", was.body.as_deref(), body);
            store.is_absent(&claim);
            store.equal("the tries of the next", store.grant(&again(&claim)).tries, 1);
        }
    }

    /// forget of a record that is not there is Absent.
    fn what_is_not_there_is_absent(store) {
        let first = message();
        must_be!(store, store.forget(&first, false), Forgotten::Absent);
        must_be!(store, store.forget(&first, true), Forgotten::Absent);
        let ended = Claim { keep: Duration::ZERO, ..lapsing() };
        store.grant(&ended);
        must_be!(store, store.forget(&ended, false), Forgotten::Absent);
    }

    /// A completion whose record was forgotten makes it anew; a renewal, a failure and a release do not.
    fn a_forgotten_claim_may_still_record_its_success(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.forget(&first, true), Forgotten::Forgotten(_));
        must_be!(store, store.fail(&ending(&first, grant.fence, b"no")), Recorded::Gone);
        must_be!(store, store.release(&first), Released::Superseded);
        store.is_absent(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Recreated);
        let done = store.is(&first, StateKind::Done);
        store.equal("the fence", done.fence, grant.fence);
    }

    /// sweep deletes records whose end has passed, and no others: clause 7, live claims are never evicted.
    fn a_sweep_leaves_what_lives(store) {
        let (held, lapsed, open, done, tombstone, failed) =
            (message(), lapsing(), message(), message(), message(), message());
        for claim in [&held, &lapsed, &open, &done, &tombstone, &failed] {
            store.grant(claim);
        }
        must_be!(store, store.release(&open), Released::Released { .. });
        must_be!(store, store.complete(&ending(&done, 1, b"done")), Recorded::Stored);
        let empty = Completion { ttl: Duration::ZERO, ..ending(&tombstone, 1, b"") };
        must_be!(store, store.complete(&empty), Recorded::Stored);
        must_be!(store, store.fail(&ending(&failed, 1, b"failed")), Recorded::Stored);
        let ended = Claim { keep: Duration::ZERO, ..lapsing() };
        store.grant(&ended);
        for _ in 0..3 {
            let swept = store.sweep(1_000);
            store.holds("at most the one record that has ended", swept <= 1, &swept);
        }
        must_be!(store, store.claim(&again(&held)), Verdict::InProgress { .. });
        must_be!(store, store.claim(&again(&done)), Verdict::Completed { body: Some(_), .. });
        must_be!(store, store.claim(&again(&tombstone)), Verdict::Completed { body: None, .. });
        must_be!(store, store.claim(&again(&failed)), Verdict::Refused { body: Some(_), .. });
        store.equal("the tries of a released message", store.grant(&again(&open)).tries, 2);
        store.equal("the tries of a lapsed message", store.grant(&again(&lapsed)).tries, 2);
        store.is_absent(&ended);
    }

    /// sweep deletes up to `limit` records and returns how many.
    fn a_sweep_takes_no_more_than_it_is_told(store) {
        for _ in 0..10 {
            store.grant(&Claim { keep: Duration::ZERO, ..lapsing() });
        }
        let none = store.sweep(0);
        store.equal("records swept of none", none, 0);
        let mut all = 0;
        // A store that deletes along with other operations may leave less to sweep, and never more.
        for _ in 0..12 {
            let swept = store.sweep(3);
            store.holds("at most three", swept <= 3, &swept);
            all += swept;
        }
        store.holds("at most the ten that have ended", all <= 10, &all);
        store.equal("records left to sweep", store.sweep(1_000), 0);
    }

    /// How long ago things were, and how long they last, are distances from the store's now and not instants.
    fn a_snapshot_tells_distances(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        let done = store.is(&first, StateKind::Done);
        store.holds(
            "ages of less than a minute",
            done.first_age < MINUTE && done.done_age < Some(MINUTE),
            &done,
        );
        store.holds("an end within a day", done.ends_in <= DAY && done.ends_in > DAY - MINUTE, &done);
    }
}

//! Everything twice: an operation whose answer was lost is sent again.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{MINUTE, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Completion, Forgotten, Recorded, Released, Renewed, StateKind, Verdict};

checks! {
    $ __conformance_core_resent, "core", Fixture;


    /// Clause 2: a claim sent again with the same token gives the same answer and changes nothing further: no try is counted.
    fn a_claim_sent_twice_counts_one_try(store) {
        let first = message();
        let grant = store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        let resumed = store.grant(&first);
        store.equal(
            "the grant",
            (resumed.fence, resumed.tries, resumed.prior),
            (grant.fence, grant.tries, grant.prior),
        );
        let after = store.is(&first, StateKind::Held);
        store.equal("the record", (after.fence, after.tries), (before.fence, before.tries));
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
    }

    /// Clause 2: verdicts that grant nothing are the same the second time.
    fn a_refused_claim_sent_twice_is_refused_twice(store) {
        let first = message();
        let grant = store.grant(&first);
        let second = again(&first);
        let before = store.is(&first, StateKind::Held);
        for _ in 0..2 {
            must_be!(store, store.claim(&second), Verdict::InProgress { tries: 1, .. });
        }
        store.is_unchanged(&first, &before);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        for _ in 0..2 {
            let body = must_be!(store, store.claim(&second), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), b"done");
        }
    }

    /// Clause 2: a claim that arrives once more after its own attempt has ended is answered by what is recorded.
    fn a_claim_sent_again_after_its_end_runs_nothing(store) {
        let (done, failed) = (message(), message());
        let grant = store.grant(&done);
        must_be!(store, store.complete(&ending(&done, grant.fence, b"done")), Recorded::Stored);
        must_be!(store, store.claim(&done), Verdict::Completed { body: Some(_), .. });
        let grant = store.grant(&failed);
        must_be!(store, store.fail(&ending(&failed, grant.fence, b"failed")), Recorded::Stored);
        must_be!(store, store.claim(&failed), Verdict::Refused { body: Some(_), .. });
    }

    /// Clause 2: a renewal sent again extends again, and changes nothing further.
    fn a_renewal_sent_twice_is_renewed_twice(store) {
        let first = message();
        let grant = store.grant(&first);
        for _ in 0..2 {
            must_be!(store, store.renew(&first, 5 * MINUTE), Renewed::Renewed { .. });
        }
        let held = store.is(&first, StateKind::Held);
        store.equal("fence and tries", (held.fence, held.tries), (grant.fence, 1));
        store.holds("a lease of at most five minutes", held.lease <= Some(5 * MINUTE), &held);
        let lost = again(&first);
        for _ in 0..2 {
            must_be!(store, store.renew(&lost, MINUTE), Renewed::Lost(Some(StateKind::Held)));
        }
    }

    /// Clause 2: a completion sent again is Stored again, and changes nothing further.
    fn a_completion_sent_twice_is_stored_once(store) {
        let first = message();
        let grant = store.grant(&first);
        let ending = ending(&first, grant.fence, b"done");
        must_be!(store, store.complete(&ending), Recorded::Stored);
        let before = store.is(&first, StateKind::Done);
        for _ in 0..2 {
            must_be!(store, store.complete(&ending), Recorded::Stored);
        }
        store.is_unchanged(&first, &before);
    }

    /// I7: all replays of one incarnation return the bytes of the accepted completion, so a second one by the same token
    /// overwrites nothing, and prolongs nothing.
    fn a_second_completion_keeps_the_first_result(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"the first")), Recorded::Stored);
        let before = store.is(&first, StateKind::Done);
        let longer = Completion {
            ttl: MINUTE * 1_000,
            keep: MINUTE * 10_000,
            ..ending(&first, grant.fence, b"the second")
        };
        must_be!(store, store.complete(&longer), Recorded::Stored);
        store.is_unchanged(&first, &before);
        let body = must_be!(store, store.claim(&again(&first)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"the first");
    }

    /// Clause 2: a failure sent again is Stored again, and changes nothing further.
    fn a_failure_sent_twice_is_stored_once(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"the first")), Recorded::Stored);
        let before = store.is(&first, StateKind::Failed);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"the first")), Recorded::Stored);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"the second")), Recorded::Stored);
        store.is_unchanged(&first, &before);
    }

    /// Clause 2: a completion that made the record anew is Stored the second time: what it says is there.
    fn a_recreating_completion_sent_twice_is_stored_once(store) {
        let lost = message();
        must_be!(store, store.complete(&ending(&lost, 7, b"the first")), Recorded::Recreated);
        let before = store.is(&lost, StateKind::Done);
        must_be!(store, store.complete(&ending(&lost, 7, b"the first")), Recorded::Stored);
        must_be!(store, store.complete(&ending(&lost, 7, b"the second")), Recorded::Stored);
        store.is_unchanged(&lost, &before);
    }

    /// Clause 2: endings that came too late are Superseded the second time too, and a failure of nothing is Gone twice.
    fn a_superseded_ending_sent_twice_is_superseded_twice(store) {
        let stale = lapsing();
        let old = store.grant(&stale);
        let owner = again(&stale);
        store.grant(&owner);
        let before = store.is(&owner, StateKind::Held);
        for _ in 0..2 {
            must_be!(
                store,
                store.complete(&ending(&stale, old.fence, b"stale")),
                Recorded::Superseded { .. }
            );
            must_be!(store, store.fail(&ending(&stale, old.fence, b"stale")), Recorded::Superseded { .. });
            must_be!(store, store.release(&stale), Released::Superseded);
        }
        store.is_unchanged(&owner, &before);
        let lost = message();
        for _ in 0..2 {
            must_be!(store, store.fail(&ending(&lost, 1, b"no")), Recorded::Gone);
        }
        store.is_absent(&lost);
    }

    /// Clause 2: a release sent again is Released again, and changes nothing further: tries stay.
    fn a_release_sent_twice_is_released_once(store) {
        let first = message();
        store.grant(&first);
        must_be!(store, store.release(&first), Released::Released { tries: 1 });
        let before = store.is(&first, StateKind::Open);
        for _ in 0..2 {
            must_be!(store, store.release(&first), Released::Released { tries: 1 });
        }
        store.is_unchanged(&first, &before);
        // Once another attempt has been granted, the repetition is too late.
        let second = again(&first);
        store.grant(&second);
        must_be!(store, store.release(&first), Released::Superseded);
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { tries: 2, .. });
    }

    /// forget repeated: Absent.
    fn a_deletion_sent_twice_finds_nothing(store) {
        let first = message();
        store.grant(&first);
        must_be!(store, store.forget(&first, true), Forgotten::Forgotten(_));
        must_be!(store, store.forget(&first, true), Forgotten::Absent);
        store.is_absent(&first);
    }

    /// Clause 2, for a sweep: the second of two finds nothing more.
    fn a_sweep_repeated_finds_nothing_more(store) {
        store.grant(&Claim { keep: Duration::ZERO, ..lapsing() });
        store.sweep(1_000);
        store.equal("records swept the second time", store.sweep(1_000), 0);
    }
}

//! Completions and failures: who may end a message.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{MINUTE, OTHER_PAYLOAD, PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Recorded, Released, StateKind, Verdict};

checks! {
    $ __conformance_core_endings, "core", Fixture;


    /// complete succeeds when the record is held by the token: Stored, and the record says Done.
    fn a_completion_by_the_holder_is_stored(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        let done = store.is(&first, StateKind::Done);
        store.brings(done.body.as_ref(), b"done");
        store.equal("fence and tries", (done.fence, done.tries), (grant.fence, 1));
        store.equal("the payload", done.fingerprint, PAYLOAD);
        store.equal("the lease", done.lease, None);
        store.holds("an age of nothing yet", done.done_age.is_some_and(|age| age < MINUTE), &done);
    }

    /// fail succeeds when the record is held by the token: Stored, and the record says Failed.
    fn a_failure_by_the_holder_is_stored(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"declined")), Recorded::Stored);
        let failed = store.is(&first, StateKind::Failed);
        store.brings(failed.body.as_ref(), b"declined");
        store.equal("fence and tries", (failed.fence, failed.tries), (grant.fence, 1));
        store.equal("the payload", failed.fingerprint, PAYLOAD);
        store.equal("the lease", failed.lease, None);
    }

    /// Completion checks ownership and not the lease's clock: if nobody took over, the work happened and is worth recording.
    fn a_completion_after_the_lease_counts_if_nobody_took_over(store) {
        let first = lapsing();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"late")), Recorded::Stored);
        let body = must_be!(store, store.claim(&again(&first)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"late");
        let second = lapsing();
        let grant = store.grant(&second);
        must_be!(store, store.fail(&ending(&second, grant.fence, b"late")), Recorded::Stored);
        must_be!(store, store.claim(&again(&second)), Verdict::Refused { .. });
    }

    /// Clause 3: who writes is decided by the token alone. A completion after a takeover is Superseded, and nothing is changed.
    fn a_completion_after_a_takeover_is_superseded(store) {
        let stale = lapsing();
        let old = store.grant(&stale);
        let owner = again(&stale);
        let new = store.grant(&owner);
        let before = store.is(&owner, StateKind::Held);
        must_be!(store, store.complete(&ending(&stale, old.fence, b"stale")),
            Recorded::Superseded { state: StateKind::Held, fence } if fence == new.fence);
        // Not even with the fence of the owner: that is no proof of ownership.
        must_be!(store, store.complete(&ending(&stale, new.fence, b"stale")), Recorded::Superseded { .. });
        store.is_unchanged(&owner, &before);
        must_be!(store, store.complete(&ending(&owner, new.fence, b"the owner's")), Recorded::Stored);
        must_be!(store, store.complete(&ending(&stale, old.fence, b"stale")),
            Recorded::Superseded { state: StateKind::Done, fence } if fence == new.fence);
        let body = must_be!(store, store.claim(&again(&stale)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"the owner's");
    }

    /// Clause 3: a failure after a takeover is Superseded, and nothing is changed.
    fn a_failure_after_a_takeover_is_superseded(store) {
        let stale = lapsing();
        let old = store.grant(&stale);
        let owner = again(&stale);
        let new = store.grant(&owner);
        let before = store.is(&owner, StateKind::Held);
        must_be!(store, store.fail(&ending(&stale, old.fence, b"stale")),
            Recorded::Superseded { state: StateKind::Held, fence } if fence == new.fence);
        store.is_unchanged(&owner, &before);
        must_be!(store, store.fail(&ending(&owner, new.fence, b"the owner's")), Recorded::Stored);
        must_be!(
            store,
            store.fail(&ending(&stale, old.fence, b"stale")),
            Recorded::Superseded { state: StateKind::Failed, .. }
        );
        let failed = store.is(&owner, StateKind::Failed);
        store.brings(failed.body.as_ref(), b"the owner's");
    }

    /// Clause 3: what is released is no longer held, so its former holder is Superseded.
    fn an_ending_after_a_release_is_superseded(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.release(&first), Released::Released { .. });
        let before = store.is(&first, StateKind::Open);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"late")),
            Recorded::Superseded { state: StateKind::Open, fence } if fence == grant.fence);
        must_be!(
            store,
            store.fail(&ending(&first, grant.fence, b"late")),
            Recorded::Superseded { state: StateKind::Open, .. }
        );
        store.is_unchanged(&first, &before);
    }

    /// At `drop_at` a record is gone, whether or not the store has deleted it: a completion makes it anew, and a failure does not.
    fn a_completion_of_a_record_that_has_ended_makes_it_anew(store) {
        let first = Claim { keep: Duration::ZERO, ..lapsing() };
        let grant = store.grant(&first);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"declined")), Recorded::Gone);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Recreated);
        let done = store.is(&first, StateKind::Done);
        store.brings(done.body.as_ref(), b"done");
        store.equal("fence and tries", (done.fence, done.tries), (grant.fence, 1));
    }

    /// I9: complete on an absent record stores Done and reports Recreated: success is worth keeping.
    fn a_completion_of_a_missing_record_makes_it_anew(store) {
        let lost = message();
        // Not representable in 14 decimal digits, as some scripting languages print numbers.
        let fence = 1_900_000_000_000_001;
        must_be!(store, store.complete(&ending(&lost, fence, b"kept")), Recorded::Recreated);
        let done = store.is(&lost, StateKind::Done);
        store.equal("fence and tries", (done.fence, done.tries), (fence, 1));
        store.equal("the payload", done.fingerprint, PAYLOAD);
        store.brings(done.body.as_ref(), b"kept");
        let body = must_be!(store, store.claim(&again(&lost)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"kept");
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&lost) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Done });
    }

    /// A failure of a missing record is Gone: an error does not make it anew.
    fn a_failure_of_a_missing_record_is_gone(store) {
        let lost = message();
        must_be!(store, store.fail(&ending(&lost, 1, b"no")), Recorded::Gone);
        store.is_absent(&lost);
        store.equal("the tries", store.grant(&again(&lost)).tries, 1);
    }

    /// I9: complete never overwrites another attempt's Held, Done or Failed record.
    fn a_completion_by_a_stranger_changes_nothing(store) {
        let (held, done, failed) = (message(), message(), message());
        store.grant(&held);
        let grant = store.grant(&done);
        must_be!(store, store.complete(&ending(&done, grant.fence, b"done")), Recorded::Stored);
        let grant = store.grant(&failed);
        must_be!(store, store.fail(&ending(&failed, grant.fence, b"failed")), Recorded::Stored);
        for (claim, is) in [(held, StateKind::Held), (done, StateKind::Done), (failed, StateKind::Failed)] {
            let before = store.is(&claim, is);
            let stranger = again(&claim);
            must_be!(store, store.complete(&ending(&stranger, u64::from(u32::MAX), b"mine")),
                Recorded::Superseded { state, fence } if state == is && fence == before.fence);
            must_be!(store, store.fail(&ending(&stranger, u64::from(u32::MAX), b"mine")),
                Recorded::Superseded { state, fence } if state == is && fence == before.fence);
            store.is_unchanged(&claim, &before);
        }
    }

    /// An attempt ends once: a success is not overwritten by an error of the same token, nor an error by a success.
    fn an_attempt_ends_once(store) {
        let (done, failed) = (message(), message());
        let grant = store.grant(&done);
        must_be!(store, store.complete(&ending(&done, grant.fence, b"done")), Recorded::Stored);
        let before = store.is(&done, StateKind::Done);
        must_be!(
            store,
            store.fail(&ending(&done, grant.fence, b"no")),
            Recorded::Superseded { state: StateKind::Done, .. }
        );
        store.is_unchanged(&done, &before);
        let grant = store.grant(&failed);
        must_be!(store, store.fail(&ending(&failed, grant.fence, b"no")), Recorded::Stored);
        let before = store.is(&failed, StateKind::Failed);
        must_be!(
            store,
            store.complete(&ending(&failed, grant.fence, b"done")),
            Recorded::Superseded { state: StateKind::Failed, .. }
        );
        store.is_unchanged(&failed, &before);
    }
}

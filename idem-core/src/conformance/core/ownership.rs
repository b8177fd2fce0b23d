//! Renewals and releases: only the holder's.

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{DAY, MINUTE, OTHER_PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Prior, Recorded, Released, Renewed, StateKind, Verdict};

checks! {
    $ __conformance_core_ownership, "core", Fixture;


    /// renew succeeds when the record is held by the token, lapsed or not: the lease runs from the store's now.
    fn a_renewal_by_the_holder_extends_the_lease(store) {
        let first = lapsing();
        store.grant(&first);
        must_be!(store, store.renew(&first, MINUTE), Renewed::Renewed { remaining } if remaining <= MINUTE && !remaining.is_zero());
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining, tries: 1 } if remaining <= MINUTE);
        must_be!(store, store.renew(&first, 10 * MINUTE), Renewed::Renewed { .. });
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining, .. } if remaining > 8 * MINUTE);
    }

    /// A record never ends before its lease: a short `keep` is stretched by each renewal.
    fn a_renewal_stretches_the_record(store) {
        let first = Claim { keep: MINUTE, ..message() };
        store.grant(&first);
        must_be!(store, store.renew(&first, DAY), Renewed::Renewed { .. });
        let held = store.is(&first, StateKind::Held);
        store.holds(
            "an end not before the lease's",
            Some(held.ends_in) >= held.lease && held.ends_in > DAY - MINUTE,
            &held,
        );
        // And a shorter one takes nothing away from the record.
        must_be!(store, store.renew(&first, MINUTE), Renewed::Renewed { .. });
        let held = store.is(&first, StateKind::Held);
        store.holds(
            "a lease of a minute, and the same end",
            held.lease <= Some(MINUTE) && held.ends_in > DAY - MINUTE,
            &held,
        );
    }

    /// A renewal extends the lease and changes nothing else: fence, tries and the end of the attempt before stay.
    fn a_renewal_changes_the_lease_alone(store) {
        let lapsed = lapsing();
        store.grant(&lapsed);
        let second = again(&lapsed);
        let grant = store.grant(&second);
        must_be!(store, store.renew(&second, 2 * MINUTE), Renewed::Renewed { .. });
        let resumed = store.grant(&second);
        store.equal(
            "the grant",
            (resumed.fence, resumed.tries, resumed.prior),
            (grant.fence, 2, Prior::Lapsed),
        );
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&lapsed) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Held });
    }

    /// Clause 3: a renewal after a takeover is Lost, and nothing is changed.
    fn a_renewal_after_a_takeover_is_lost(store) {
        let stale = lapsing();
        store.grant(&stale);
        let owner = again(&stale);
        let grant = store.grant(&owner);
        let before = store.is(&owner, StateKind::Held);
        must_be!(store, store.renew(&stale, DAY), Renewed::Lost(Some(StateKind::Held)));
        store.is_unchanged(&owner, &before);
        must_be!(store, store.complete(&ending(&owner, grant.fence, b"the owner's")), Recorded::Stored);
    }

    /// A renewal of what is not held is Lost, with the state that the record is in; nothing comes back to life.
    fn a_renewal_of_what_is_not_held_is_lost(store) {
        let (absent, open, done, failed) = (message(), message(), message(), message());
        must_be!(store, store.renew(&absent, MINUTE), Renewed::Lost(None));
        store.is_absent(&absent);
        store.grant(&open);
        must_be!(store, store.release(&open), Released::Released { .. });
        let grant = store.grant(&done);
        must_be!(store, store.complete(&ending(&done, grant.fence, b"done")), Recorded::Stored);
        let grant = store.grant(&failed);
        must_be!(store, store.fail(&ending(&failed, grant.fence, b"failed")), Recorded::Stored);
        for (claim, is) in [(open, StateKind::Open), (done, StateKind::Done), (failed, StateKind::Failed)] {
            let before = store.is(&claim, is);
            must_be!(store, store.renew(&claim, DAY), Renewed::Lost(Some(state)) if state == is);
            must_be!(store, store.renew(&again(&claim), DAY), Renewed::Lost(Some(state)) if state == is);
            store.is_unchanged(&claim, &before);
        }
    }

    /// release succeeds when the record is held by the token: it becomes Open, and keeps fence, tries and payload.
    fn a_release_by_the_holder_opens_the_record(store) {
        for first in [message(), lapsing()] {
            let grant = store.grant(&first);
            must_be!(store, store.release(&first), Released::Released { tries: 1 });
            let open = store.is(&first, StateKind::Open);
            store.equal("fence and tries", (open.fence, open.tries), (grant.fence, 1));
            store.equal("the payload", open.fingerprint, first.fingerprint);
            store.holds("no lease and no result", open.lease.is_none() && open.body.is_none(), &open);
            store.holds("an end within a day", open.ends_in > DAY - MINUTE && open.ends_in <= DAY, &open);
        }
    }

    /// Clause 3: a release by another token changes nothing: not by one who was refused, nor by one whose lease has gone.
    fn a_release_by_another_changes_nothing(store) {
        let stale = lapsing();
        store.grant(&stale);
        let owner = again(&stale);
        store.grant(&owner);
        let refused = again(&stale);
        must_be!(store, store.claim(&refused), Verdict::InProgress { .. });
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&stale) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { .. });
        let before = store.is(&owner, StateKind::Held);
        for attempt in [&stale, &refused, &other] {
            must_be!(store, store.release(attempt), Released::Superseded);
        }
        store.is_unchanged(&owner, &before);
        must_be!(store, store.claim(&again(&stale)), Verdict::InProgress { tries: 2, .. });
    }

    /// A release takes back no success and no error worth remembering, not even by the token that recorded it.
    fn a_release_after_the_end_changes_nothing(store) {
        let (done, failed) = (message(), message());
        let grant = store.grant(&done);
        must_be!(store, store.complete(&ending(&done, grant.fence, b"done")), Recorded::Stored);
        let grant = store.grant(&failed);
        must_be!(store, store.fail(&ending(&failed, grant.fence, b"failed")), Recorded::Stored);
        for (claim, is) in [(done, StateKind::Done), (failed, StateKind::Failed)] {
            let before = store.is(&claim, is);
            must_be!(store, store.release(&claim), Released::Superseded);
            must_be!(store, store.release(&again(&claim)), Released::Superseded);
            store.is_unchanged(&claim, &before);
        }
    }

    /// A release of an absent record is Superseded and makes none.
    fn a_release_of_a_missing_record_makes_none(store) {
        let absent = message();
        must_be!(store, store.release(&absent), Released::Superseded);
        store.is_absent(&absent);
        store.equal("the tries", store.grant(&absent).tries, 1);
    }
}

//! How often a message is tried, and the order of its grants.

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{MINUTE, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Forgotten, OnLapse, Prior, Recorded, Released, StateKind, Verdict};

checks! {
    $ __conformance_core_tries, "core", Fixture;


    /// Clause 4: fences of one record grow in the order of its grants. Tries count the grants.
    fn each_takeover_raises_the_fence_and_counts_a_try(store) {
        let first = Claim { max_tries: 100, ..lapsing() };
        let mut last = store.grant(&first).fence;
        for tries in 2..=20 {
            let grant = store.grant(&Claim { lease: first.lease, ..again(&first) });
            store.equal("the tries", grant.tries, tries);
            store.holds("a fence above the one before", grant.fence > last, &(last, grant));
            last = grant.fence;
        }
    }

    /// Tries survive a release: they count the grants of an incarnation, however each ended.
    fn tries_go_on_counting_after_a_release(store) {
        let mut attempt = message();
        let mut last = 0;
        for tries in 1..=5 {
            let grant = store.grant(&attempt);
            store.equal("the tries", grant.tries, tries);
            store.holds("a fence above the one before", grant.fence > last, &(last, grant));
            last = grant.fence;
            must_be!(store, store.release(&attempt), Released::Released { tries: counted } if counted == tries);
            attempt = again(&attempt);
        }
        must_be!(store, store.claim(&attempt), Verdict::Spent { tries: 5, .. });
    }

    /// Table: Open, `tries >= max_tries` → Spent; changes nothing.
    fn a_released_message_can_be_spent(store) {
        let first = message();
        store.grant(&first);
        must_be!(store, store.release(&first), Released::Released { .. });
        let before = store.is(&first, StateKind::Open);
        let last = Claim { max_tries: 1, ..again(&first) };
        must_be!(store, store.claim(&last), Verdict::Spent { tries: 1, first_age } if first_age < MINUTE);
        store.is_unchanged(&first, &before);
        store.equal(
            "the tries of one who may try twice",
            store.grant(&Claim { max_tries: 2, ..again(&first) }).tries,
            2,
        );
    }

    /// Table: Held and lapsed, `tries >= max_tries` → Spent, before Lapsed; changes nothing.
    fn a_lapsed_message_can_be_spent(store) {
        let first = lapsing();
        store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        for on_lapse in [OnLapse::Rerun, OnLapse::Park] {
            let last = Claim { max_tries: 1, on_lapse, ..again(&first) };
            must_be!(store, store.claim(&last), Verdict::Spent { tries: 1, first_age } if first_age < MINUTE);
        }
        store.is_unchanged(&first, &before);
        store.equal(
            "the tries of one who may try twice",
            store.grant(&Claim { max_tries: 2, ..again(&first) }).tries,
            2,
        );
    }

    /// Table: `InProgress`, Completed and Refused come before Spent, and a resumed claim too: it counts no try.
    fn only_a_new_grant_can_be_spent(store) {
        let first = Claim { max_tries: 1, ..message() };
        let grant = store.grant(&first);
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { .. });
        store.equal("whether it is resumed", store.grant(&first).resumed, true);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"")), Recorded::Stored);
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { .. });
        let refused = Claim { max_tries: 1, ..message() };
        let grant = store.grant(&refused);
        must_be!(store, store.fail(&ending(&refused, grant.fence, b"")), Recorded::Stored);
        must_be!(store, store.claim(&again(&refused)), Verdict::Refused { .. });
    }

    /// Grants before the message is spent: the greatest number there is means no limit.
    fn any_number_of_tries_can_be_asked_for(store) {
        let first = Claim { max_tries: u32::MAX, ..lapsing() };
        store.grant(&first);
        store.equal("the tries", store.grant(&again(&first)).tries, 2);
        // A limit of none still lets an absent record be granted: the table asks for tries only where there are some.
        let none = Claim { max_tries: 0, ..lapsing() };
        store.grant(&none);
        must_be!(store, store.claim(&again(&none)), Verdict::Spent { tries: 1, .. });
    }

    /// Clause 4: fences grow across deletion.
    fn fences_grow_across_deletion(store) {
        let first = Claim { max_tries: 100, ..lapsing() };
        let mut last = store.grant(&first).fence;
        for _ in 0..4 {
            last = store.grant(&Claim { lease: first.lease, ..again(&first) }).fence;
        }
        for _ in 0..4 {
            must_be!(store, store.forget(&first, true), Forgotten::Forgotten(_));
            let grant = store.grant(&again(&first));
            store.equal("the grant", (grant.tries, grant.prior), (1, Prior::None));
            store.holds("a fence above the one before", grant.fence > last, &(last, grant));
            last = grant.fence;
        }
        must_be!(store, store.forget(&first, true), Forgotten::Forgotten(_));
        store.is_absent(&first);
        let kept = again(&first);
        let grant = store.grant(&kept);
        store.holds("a fence above the one before", grant.fence > last, &(last, grant));
        store.equal("the record's fence", store.is(&kept, StateKind::Held).fence, grant.fence);
    }
}

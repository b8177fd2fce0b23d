//! One key, another payload.

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{OTHER_PAYLOAD, PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::Fingerprint;
use crate::machine::{Claim, OnLapse, Recorded, Released, StateKind, Verdict};

checks! {
    $ __conformance_core_payloads, "core", Fixture;


    /// Table: Held and the fingerprint differs → Mismatch, before `InProgress`; changes nothing.
    fn another_payload_is_a_mismatch_even_while_the_first_runs(store) {
        let first = message();
        store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Held });
        store.is_unchanged(&first, &before);
    }

    /// Table: Done and the fingerprint differs → Mismatch, before Completed: nothing is replayed.
    fn another_payload_is_a_mismatch_after_success(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.complete(&ending(&first, grant.fence, b"for the first")), Recorded::Stored);
        let before = store.is(&first, StateKind::Done);
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Done });
        store.is_unchanged(&first, &before);
    }

    /// Table: Failed and the fingerprint differs → Mismatch, before Refused.
    fn another_payload_is_a_mismatch_after_a_remembered_error(store) {
        let first = message();
        let grant = store.grant(&first);
        must_be!(store, store.fail(&ending(&first, grant.fence, b"no")), Recorded::Stored);
        let before = store.is(&first, StateKind::Failed);
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Failed });
        store.is_unchanged(&first, &before);
    }

    /// Table: Held and the fingerprint differs → Mismatch, before Spent, Lapsed and a takeover.
    fn another_payload_does_not_take_over_a_lapsed_message(store) {
        let first = lapsing();
        store.grant(&first);
        let before = store.is(&first, StateKind::Held);
        for other in [
            Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) },
            Claim { fingerprint: OTHER_PAYLOAD, max_tries: 1, ..again(&first) },
            Claim { fingerprint: OTHER_PAYLOAD, on_lapse: OnLapse::Park, ..again(&first) },
        ] {
            must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Held });
        }
        store.is_unchanged(&first, &before);
    }

    /// Table: the fingerprint differs → Mismatch, before the token is looked at.
    fn another_payload_does_not_resume_a_claim(store) {
        let first = message();
        store.grant(&first);
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..first.clone() };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Held });
        store.equal("whether the first is resumed", store.grant(&first).resumed, true);
    }

    /// The fingerprint differs if only one of the two is there; sixteen zero bytes are a fingerprint like all others.
    fn a_payload_and_none_are_different(store) {
        let zeros = Some(Fingerprint::from_bytes([0; 16]));
        for (one, other) in [(PAYLOAD, None), (None, PAYLOAD), (zeros, None), (None, zeros), (zeros, PAYLOAD)]
        {
            let first = Claim { fingerprint: one, ..message() };
            store.grant(&first);
            store.equal("the record's payload", store.is(&first, StateKind::Held).fingerprint, one);
            let second = Claim { fingerprint: other, ..again(&first) };
            must_be!(store, store.claim(&second), Verdict::Mismatch { state: StateKind::Held });
            must_be!(store, store.claim(&again(&first)), Verdict::InProgress { .. });
        }
    }

    /// Table: Open → Claimed; Held, new fingerprint. Nothing was promised to the old one.
    fn a_released_message_takes_a_new_payload(store) {
        let first = message();
        store.grant(&first);
        must_be!(store, store.release(&first), Released::Released { .. });
        let repaired = Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) };
        store.equal("the grant's tries", store.grant(&repaired).tries, 2);
        store.equal("the record's payload", store.is(&first, StateKind::Held).fingerprint, OTHER_PAYLOAD);
        must_be!(store, store.claim(&again(&repaired)), Verdict::InProgress { .. });
        must_be!(store, store.claim(&again(&first)), Verdict::Mismatch { state: StateKind::Held });
    }

    /// Fingerprints are 16 bytes and all of them count.
    fn payloads_are_compared_bit_by_bit(store) {
        let first = message();
        store.grant(&first);
        let sent = *b"the payload sent";
        for bit in 0..128 {
            let mut flipped = sent;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let other = Claim { fingerprint: Some(Fingerprint::from_bytes(flipped)), ..again(&first) };
            must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Held });
        }
    }
}

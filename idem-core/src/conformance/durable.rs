//! The group `durable`: what the end of a process may not take.

use super::checks::{checks, must_be};
use super::fixture::Reopens;
use super::messages::{DAY, MINUTE, OTHER_PAYLOAD, again, ending, lapsing, message};
use super::subject::{About, Subject};
use crate::StoreClass;
use crate::machine::{Claim, Completion, Forgotten, Prior, Recorded, Released, Renewed, StateKind, Verdict};

checks! {
    $ __conformance_durable, "durable", Reopens;


    /// A store that can be opened again says so: its class is Lossy at least.
    fn a_store_that_outlives_its_process_says_so(store, fixture) {
        let before = store.store().class();
        store.holds("a class above Volatile", before > StoreClass::Volatile, &before);
        let store = store.without_it(|| fixture.reopen());
        store.equal("the class", store.store().class(), before);
    }

    /// A claim is still held after a restart, and only its lease frees it: a restart is no takeover.
    fn a_claim_is_held_across_a_restart(store, fixture) {
        let (first, durable) = (message(), Claim { durable: true, ..message() });
        let grant = store.grant(&first);
        store.grant(&durable);
        let before = store.is(&first, StateKind::Held);
        let store = store.without_it(|| fixture.reopen());
        store.is_unchanged(&first, &before);
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining, tries: 1 } if remaining <= MINUTE);
        must_be!(store, store.claim(&again(&durable)), Verdict::InProgress { tries: 1, .. });
        // I10: a token is the attempt's, and no connection's.
        let resumed = store.grant(&first);
        store.equal("the grant", (resumed.fence, resumed.tries, resumed.resumed), (grant.fence, 1, true));
        must_be!(store, store.renew(&durable, MINUTE), Renewed::Renewed { .. });
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
    }

    /// I2: no run after success, across a restart: results, remembered errors and tombstones are still there.
    fn what_is_done_is_done_across_a_restart(store, fixture) {
        let (done, failed, tombstone, large) = (message(), message(), message(), message());
        for claim in [&done, &failed, &tombstone, &large] {
            store.grant(claim);
        }
        let bytes: Vec<u8> = (0..1 << 20).map(|at: usize| at.to_le_bytes()[0]).collect();
        must_be!(store, store.complete(&ending(&done, 1, b"receipt\0\xff")), Recorded::Stored);
        must_be!(store, store.fail(&ending(&failed, 1, b"declined")), Recorded::Stored);
        let empty = Completion { ttl: std::time::Duration::ZERO, ..ending(&tombstone, 1, b"x") };
        must_be!(store, store.complete(&empty), Recorded::Stored);
        must_be!(store, store.complete(&ending(&large, 1, &bytes)), Recorded::Stored);
        let before = store.is(&done, StateKind::Done);
        let store = store.without_it(|| fixture.reopen());
        store.is_unchanged(&done, &before);
        let body = must_be!(store, store.claim(&again(&done)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), b"receipt\0\xff");
        let body = must_be!(store, store.claim(&again(&failed)), Verdict::Refused { body, .. } => body);
        store.brings(body.as_ref(), b"declined");
        must_be!(store, store.claim(&again(&tombstone)), Verdict::Completed { body: None, .. });
        let body = must_be!(store, store.claim(&again(&large)), Verdict::Completed { body, .. } => body);
        store.brings(body.as_ref(), &bytes);
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&done) };
        must_be!(store, store.claim(&other), Verdict::Mismatch { state: StateKind::Done });
        // Clause 2: the completion whose answer went with the process is sent again.
        must_be!(store, store.complete(&ending(&done, 1, b"receipt\0\xff")), Recorded::Stored);
    }

    /// `tries` survive release, lapse and the death of a process.
    fn tries_go_on_counting_across_a_restart(store, fixture) {
        let (open, lapsed) = (message(), lapsing());
        let before = store.grant(&open);
        must_be!(store, store.release(&open), Released::Released { tries: 1 });
        store.grant(&lapsed);
        let store = store.without_it(|| fixture.reopen());
        let grant = store.grant(&again(&open));
        store.equal("the grant of a released message", (grant.tries, grant.prior), (2, Prior::Released));
        store.holds("a fence above the first", grant.fence > before.fence, &(before, grant));
        let second = again(&lapsed);
        let grant = store.grant(&second);
        store.equal("the grant of a lapsed message", (grant.tries, grant.prior), (2, Prior::Lapsed));
        let store = store.without_it(|| fixture.reopen());
        let resumed = store.grant(&second);
        store.equal(
            "the grant sent again",
            (resumed.fence, resumed.tries, resumed.prior),
            (grant.fence, 2, Prior::Lapsed),
        );
    }

    /// Clause 4: fences grow across deletion and restart.
    fn fences_grow_across_deletion_and_restart(store, fixture) {
        let first = Claim { max_tries: 100, ..lapsing() };
        let mut last = store.grant(&first).fence;
        for _ in 0..4 {
            last = store.grant(&Claim { lease: first.lease, ..again(&first) }).fence;
        }
        must_be!(store, store.forget(&first, true), Forgotten::Forgotten(_));
        let store = store.without_it(|| fixture.reopen());
        let grant = store.grant(&again(&first));
        store.equal("the tries", grant.tries, 1);
        store.holds("a fence above the one before", grant.fence > last, &(last, grant));
    }

    /// What was deleted stays deleted, and what was kept keeps its end.
    fn deletions_and_ends_survive_a_restart(store, fixture) {
        let (forgotten, kept) = (message(), message());
        store.grant(&forgotten);
        store.grant(&kept);
        must_be!(store, store.complete(&ending(&forgotten, 1, b"done")), Recorded::Stored);
        must_be!(store, store.forget(&forgotten, false), Forgotten::Forgotten(_));
        let store = store.without_it(|| fixture.reopen());
        store.is_absent(&forgotten);
        let held = store.is(&kept, StateKind::Held);
        store.holds("an end within a day", held.ends_in <= DAY && held.ends_in > DAY - 10 * MINUTE, &held);
        store.equal("records swept", store.sweep(1_000), 0);
        must_be!(store, store.claim(&again(&kept)), Verdict::InProgress { .. });
    }
}

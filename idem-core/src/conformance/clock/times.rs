//! Ages, remaining times, and which operations move which end.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::MovesClock;
use super::super::messages::{DAY, MINUTE, OTHER_PAYLOAD, again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Completion, OnLapse, Recorded, Released, Renewed, Snapshot, StateKind, Verdict};

checks! {
    $ __conformance_clock_times, "clock", MovesClock;


    /// The clock that the store shows is the one that it decides by.
    fn the_stores_clock_is_the_one_it_decides_by(store, clock) {
        let now = store.store().clock().now();
        clock.advance(5 * MINUTE);
        store.equal(
            "what its clock shows to have passed",
            store.store().clock().now().since(now),
            5 * MINUTE,
        );
    }

    /// `claim_at` answers as `claim` does, and writes down an instant that is not after the one by which it decides: the driver
    /// counts the lease from there.
    fn a_claim_is_counted_from_when_it_was_asked(store, clock) {
        clock.advance(5 * MINUTE);
        let first = message();
        let (asked_at, verdict) = store.claim_at(&first);
        store.equal("the instant of a grant", asked_at, store.store().clock().now());
        must_be!(store, verdict, Verdict::Claimed(_));
        let second = again(&first);
        let (asked_at, verdict) = store.claim_at(&second);
        store.equal("the instant of another verdict", asked_at, store.store().clock().now());
        store.equal("the verdict", verdict, store.claim(&second));
    }

    /// Ages count from the first grant of an incarnation and from the recording, on the store's clock.
    fn ages_are_exact(store, clock) {
        let first = message();
        let grant = store.grant(&first);
        store.equal("the age at the grant", grant.first_age, Duration::ZERO);
        clock.advance(MINUTE);
        let second = again(&first);
        store.equal("the age at the takeover", store.grant(&second).first_age, MINUTE);
        clock.advance(30 * clock.tick());
        store.equal("the age when resumed", store.grant(&second).first_age, MINUTE + 30 * clock.tick());
        must_be!(store, store.complete(&ending(&second, 1, b"done")), Recorded::Stored);
        clock.advance(10 * MINUTE);
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { age, .. } if age == 10 * MINUTE);
        let done = store.is(&first, StateKind::Done);
        store.equal("the age of the result", done.done_age, Some(10 * MINUTE));
        store.equal("the age of the first attempt", done.first_age, 11 * MINUTE + 30 * clock.tick());
        store.equal("what is left", done.ends_in, DAY - 10 * MINUTE);
    }

    /// A claim sent again extends its lease from now, and its record.
    fn a_resumed_claim_has_its_whole_lease_again(store, clock) {
        let first = message();
        store.grant(&first);
        clock.advance(MINUTE / 2);
        store.grant(&first);
        let held = store.is(&first, StateKind::Held);
        store.equal("lease and end", (held.lease, held.ends_in), (Some(MINUTE), DAY));
        clock.advance(MINUTE - clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining, .. } if remaining == clock.tick());
    }

    /// A renewal extends the lease from the store's now, also after it lapsed, and says how long it runs.
    fn a_renewal_counts_from_now(store, clock) {
        let first = message();
        store.grant(&first);
        for wait in [MINUTE / 2, MINUTE, 10 * MINUTE] {
            clock.advance(wait);
            must_be!(store, store.renew(&first, MINUTE), Renewed::Renewed { remaining: MINUTE });
            must_be!(store, store.claim(&again(&first)), Verdict::InProgress { remaining: MINUTE, tries: 1 });
        }
        let held = store.is(&first, StateKind::Held);
        store.equal("what is left of the record", held.ends_in, DAY - 11 * MINUTE - MINUTE / 2);
        // A shorter renewal shortens.
        must_be!(store, store.renew(&first, clock.tick()), Renewed::Renewed { .. });
        clock.advance(clock.tick());
        store.equal("the tries", store.grant(&again(&first)).tries, 2);
    }

    /// A record never ends before its lease: a short `keep` is stretched, at the grant and at each renewal.
    fn a_record_is_stretched_to_the_end_of_its_lease(store, clock) {
        let first = Claim { keep: clock.tick(), ..message() };
        store.grant(&first);
        store.equal("what is left at the grant", store.is(&first, StateKind::Held).ends_in, MINUTE);
        clock.advance(MINUTE / 2);
        must_be!(store, store.renew(&first, MINUTE), Renewed::Renewed { .. });
        store.equal("what is left after a renewal", store.is(&first, StateKind::Held).ends_in, MINUTE);
        clock.advance(MINUTE - clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { .. });
        clock.advance(clock.tick());
        store.is_absent(&first);
    }

    /// The ends of a finished record are set by its completion, counted from the store's now.
    fn a_completion_sets_the_ends_from_now(store, clock) {
        let first = message();
        store.grant(&first);
        clock.advance(20 * MINUTE);
        let ending =
            Completion { ttl: 2 * MINUTE, keep: 5 * MINUTE, ..ending(&first, 1, b"for two minutes") };
        must_be!(store, store.complete(&ending), Recorded::Stored);
        store.equal("what is left", store.is(&first, StateKind::Done).ends_in, 5 * MINUTE);
        clock.advance(2 * MINUTE - clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { body: Some(_), .. });
        clock.advance(clock.tick());
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { body: None, .. });
        clock.advance(3 * MINUTE);
        store.equal("the tries", store.grant(&again(&first)).tries, 1);
    }

    /// Clause 2: a completion sent again changes nothing further: neither end moves.
    fn a_completion_sent_again_prolongs_nothing(store, clock) {
        for fails in [false, true] {
            let first = message();
            store.grant(&first);
            let ending = ending(&first, 1, b"done");
            let record = || if fails { store.fail(&ending) } else { store.complete(&ending) };
            must_be!(store, record(), Recorded::Stored);
            clock.advance(30 * MINUTE);
            must_be!(store, record(), Recorded::Stored);
            let kind = if fails { StateKind::Failed } else { StateKind::Done };
            let Snapshot { ends_in, done_age, .. } = store.is(&first, kind);
            store.equal(
                "what is left, and its age",
                (ends_in, done_age),
                (DAY - 30 * MINUTE, Some(30 * MINUTE)),
            );
            clock.advance(30 * MINUTE);
            store.equal("the body", store.is(&first, kind).body, None);
            // Not even after the result's time.
            must_be!(store, record(), Recorded::Stored);
            let Snapshot { body, ends_in, .. } = store.is(&first, kind);
            store.equal("the body, and what is left", (body, ends_in), (None, DAY - 60 * MINUTE));
        }
    }

    /// A release keeps the end of the record, and a release sent again does too.
    fn a_release_keeps_the_end_of_the_record(store, clock) {
        let first = message();
        store.grant(&first);
        for wait in [MINUTE, 2 * MINUTE] {
            clock.advance(wait);
            must_be!(store, store.release(&first), Released::Released { .. });
        }
        store.equal("what is left", store.is(&first, StateKind::Open).ends_in, DAY - 3 * MINUTE);
    }

    /// A grant after a release or a lapse sets lease and end anew, from the store's now, and keeps the age.
    fn a_later_grant_sets_lease_and_end_anew(store, clock) {
        let first = message();
        store.grant(&first);
        clock.advance(10 * MINUTE);
        let second = Claim { lease: 2 * MINUTE, keep: 2 * DAY, ..again(&first) };
        store.grant(&second);
        let held = store.is(&first, StateKind::Held);
        store.equal(
            "lease, end and age",
            (held.lease, held.ends_in, held.first_age),
            (Some(2 * MINUTE), 2 * DAY, 10 * MINUTE),
        );
        must_be!(store, store.release(&second), Released::Released { .. });
        clock.advance(MINUTE);
        store.grant(&again(&first));
        let held = store.is(&first, StateKind::Held);
        store.equal(
            "lease, end and age",
            (held.lease, held.ends_in, held.first_age),
            (Some(MINUTE), DAY, 11 * MINUTE),
        );
    }

    /// Verdicts that grant nothing change nothing: neither lease nor end moves.
    fn a_refused_claim_prolongs_nothing(store, clock) {
        let first = message();
        store.grant(&first);
        clock.advance(MINUTE / 2);
        must_be!(
            store,
            store.claim(&Claim { keep: 9 * DAY, lease: DAY, ..again(&first) }),
            Verdict::InProgress { .. }
        );
        must_be!(
            store,
            store.claim(&Claim { fingerprint: OTHER_PAYLOAD, lease: DAY, ..first.clone() }),
            Verdict::Mismatch { .. }
        );
        let held = store.is(&first, StateKind::Held);
        store.equal("lease and end", (held.lease, held.ends_in), (Some(MINUTE / 2), DAY - MINUTE / 2));
        clock.advance(MINUTE / 2);
        must_be!(
            store,
            store.claim(&Claim { on_lapse: OnLapse::Park, keep: 9 * DAY, ..again(&first) }),
            Verdict::Lapsed { .. }
        );
        must_be!(
            store,
            store.claim(&Claim { max_tries: 1, keep: 9 * DAY, ..again(&first) }),
            Verdict::Spent { .. }
        );
        store.equal("what is left", store.is(&first, StateKind::Held).ends_in, DAY - MINUTE);
    }

    /// `valid_for`: how long an answer stays true, until the bytes go or, where there are none, until the record ends. Never longer.
    fn a_replay_is_valid_no_longer_than_it_is_true(store, clock) {
        let first = message();
        store.grant(&first);
        let ending = Completion { ttl: 2 * MINUTE, keep: 10 * MINUTE, ..ending(&first, 1, b"done") };
        must_be!(store, store.complete(&ending), Recorded::Stored);
        clock.advance(MINUTE);
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { body: Some(_), valid_for, .. } if valid_for <= MINUTE);
        clock.advance(MINUTE);
        must_be!(store, store.claim(&again(&first)), Verdict::Completed { body: None, valid_for, .. } if valid_for <= 8 * MINUTE);
    }

    /// sweep deletes records whose end has passed: one step before it takes none, and after it no living one.
    fn a_sweep_keeps_to_the_ends(store, clock) {
        let (short, long) = (Claim { keep: 2 * MINUTE, ..message() }, message());
        store.grant(&short);
        store.grant(&long);
        clock.advance(2 * MINUTE - clock.tick());
        store.equal("records swept before the end", store.sweep(1_000), 0);
        store.is(&short, StateKind::Held);
        clock.advance(2 * clock.tick());
        let swept = store.sweep(1_000);
        store.holds("at most the one that has ended", swept <= 1, &swept);
        store.is_absent(&short);
        store.is(&long, StateKind::Held);
        store.equal("the tries of a lapsed message that was not swept", store.grant(&again(&long)).tries, 2);
    }

    /// Clause 4: fences grow across a deletion by a sweep.
    fn fences_grow_across_a_sweep(store, clock) {
        let first = Claim { keep: MINUTE, max_tries: 100, ..lapsing() };
        let mut last = 0;
        for _ in 0..5 {
            let grant = store.grant(&Claim { lease: Duration::ZERO, ..again(&first) });
            store.holds("a fence above the one before", grant.fence > last, &(last, grant));
            last = grant.fence;
        }
        clock.advance(2 * MINUTE);
        store.sweep(1_000);
        let grant = store.grant(&again(&first));
        store.equal("the tries", grant.tries, 1);
        store.holds("a fence above the one before", grant.fence > last, &(last, grant));
    }
}

//! The group `shared`: two ways to the same records, as two processes have them.

use super::checks::{checks, must_be};
use super::fixture::Shares;
use super::messages::{DAY, MINUTE, OTHER_PAYLOAD, again, ending, lapsing, message};
use super::race::{RECORDS, RUNNERS, race};
use super::subject::{About, Subject};
use crate::machine::{Claim, Forgotten, Prior, Recorded, Released, Renewed, StateKind, Verdict};

checks! {
    $ __conformance_shared, "shared", Shares;


    /// I1: at most one token is current for a key, whichever way its attempt came.
    fn a_claim_by_one_is_in_progress_for_the_other(one, fixture) {
        let two = one.through(fixture.another());
        let first = message();
        one.grant(&first);
        must_be!(two, two.claim(&again(&first)), Verdict::InProgress { remaining, tries: 1 } if remaining <= MINUTE);
        let other = Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) };
        must_be!(two, two.claim(&other), Verdict::Mismatch { state: StateKind::Held });
        must_be!(two, two.release(&again(&first)), Released::Superseded);
        must_be!(two, two.forget(&first, false), Forgotten::StillHeld { .. });
        must_be!(one, one.claim(&again(&first)), Verdict::InProgress { .. });
    }

    /// I2 and I7: no run after success, and the same bytes, whichever way is asked.
    fn a_success_of_one_is_replayed_by_the_other(one, fixture) {
        let two = one.through(fixture.another());
        let (done, failed) = (message(), message());
        // The other has looked before, and must not go on believing what it saw.
        two.is_absent(&done);
        one.grant(&done);
        one.grant(&failed);
        must_be!(two, two.claim(&again(&done)), Verdict::InProgress { .. });
        must_be!(one, one.complete(&ending(&done, 1, b"done by one")), Recorded::Stored);
        must_be!(one, one.fail(&ending(&failed, 1, b"failed by one")), Recorded::Stored);
        let body = must_be!(two, two.claim(&again(&done)), Verdict::Completed { body, .. } => body);
        two.brings(body.as_ref(), b"done by one");
        let body = must_be!(two, two.claim(&again(&failed)), Verdict::Refused { body, .. } => body);
        two.brings(body.as_ref(), b"failed by one");
    }

    /// Clause 3: who writes is decided by the token alone, and not by the way it came.
    fn an_attempt_may_go_on_by_the_other_way(one, fixture) {
        let two = one.through(fixture.another());
        let first = message();
        let grant = one.grant(&first);
        let resumed = two.grant(&first);
        two.equal("the grant", (resumed.fence, resumed.tries, resumed.resumed), (grant.fence, 1, true));
        must_be!(two, two.renew(&first, 5 * MINUTE), Renewed::Renewed { .. });
        must_be!(two, two.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        must_be!(one, one.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        let second = message();
        one.grant(&second);
        must_be!(two, two.release(&second), Released::Released { tries: 1 });
        one.equal("the prior", one.grant(&again(&second)).prior, Prior::Released);
    }

    /// I3 and I5: a takeover by the other is higher in fence, and the first is told: Superseded, Lost.
    fn a_takeover_by_the_other_is_noticed(one, fixture) {
        let two = one.through(fixture.another());
        let first = lapsing();
        let old = one.grant(&first);
        let second = again(&first);
        let new = two.grant(&second);
        two.equal("the grant", (new.tries, new.prior), (2, Prior::Lapsed));
        two.holds("a fence above the first", new.fence > old.fence, &(old, new));
        must_be!(one, one.renew(&first, DAY), Renewed::Lost(Some(StateKind::Held)));
        must_be!(one, one.release(&first), Released::Superseded);
        must_be!(
            one,
            one.complete(&ending(&first, old.fence, b"stale")),
            Recorded::Superseded { state: StateKind::Held, .. }
        );
        must_be!(two, two.complete(&ending(&second, new.fence, b"the owner's")), Recorded::Stored);
        let body = must_be!(one, one.claim(&again(&first)), Verdict::Completed { body, .. } => body);
        one.brings(body.as_ref(), b"the owner's");
    }

    /// Clause 4: fences grow across deletion, whichever way the grants come; and tries count all of an incarnation's.
    fn fences_grow_over_both_ways(one, fixture) {
        let two = one.through(fixture.another());
        let first = Claim { max_tries: 100, ..lapsing() };
        let mut last = 0;
        for round in 0..12 {
            let by = if round % 2 == 0 { &one } else { &two };
            let grant = by.grant(&Claim { lease: first.lease, ..again(&first) });
            by.holds("a fence above the one before", grant.fence > last, &(last, grant));
            by.equal("the tries", grant.tries, round % 4 + 1);
            last = grant.fence;
            if round % 4 == 3 {
                must_be!(by, by.forget(&first, true), Forgotten::Forgotten(_));
            }
        }
    }

    /// I1: of many first claims at once, over both ways, exactly one is granted.
    fn of_many_claims_over_both_ways_one_is_granted(one, fixture) {
        let two = one.through(fixture.another());
        let records: Vec<_> =
            (0..RECORDS).map(|number| if number % 2 == 0 { message() } else { lapsing() }).collect();
        for lapsed in records.iter().filter(|claim| claim.lease.is_zero()) {
            one.grant(lapsed);
        }
        let all = race(&records, RUNNERS, |first, runner| {
            let by = if runner % 2 == 0 { &one } else { &two };
            let claim = again(first);
            by.try_ask(&"claim, in a race", |store| store.claim(&claim))
        });
        for answers in all {
            let granted = answers.iter().filter(|answer| matches!(answer, Ok(Verdict::Claimed(_)))).count();
            let refused =
                answers.iter().filter(|answer| matches!(answer, Ok(Verdict::InProgress { .. }))).count();
            one.holds(
                "one grant, and InProgress for all others",
                granted == 1 && refused == RUNNERS - 1,
                &answers,
            );
        }
    }

    /// Clause 7: a sweep by one takes nothing of what the other holds.
    fn a_sweep_by_one_leaves_what_the_other_holds(one, fixture) {
        let two = one.through(fixture.another());
        let (held, lapsed) = (message(), lapsing());
        one.grant(&held);
        one.grant(&lapsed);
        two.sweep(1_000);
        must_be!(two, two.claim(&again(&held)), Verdict::InProgress { .. });
        two.equal("the tries of a takeover", two.grant(&again(&lapsed)).tries, 2);
    }
}

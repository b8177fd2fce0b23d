//! Attempts that end in different ways, in one call.

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{again, ending, lapsing, message};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, End, Ended, Prior, Recorded, Released, StateKind, Verdict};

fn release(claim: &Claim) -> End {
    End::Release { id: claim.id, token: claim.token }
}

checks! {
    $ __conformance_batch_ends, "batch", Fixture;


    /// `end_many`: one answer for each end, in order and of its kind, and each as a single one would be answered.
    fn a_batch_of_ends_of_all_kinds_is_answered_in_order(store) {
        let (done, failed, open) = (message(), message(), message());
        let (lapsed_done, lapsed_failed, lapsed_open) = (lapsing(), lapsing(), lapsing());
        let (gone_done, gone_failed, gone_open) = (message(), message(), message());
        for claim in [&done, &failed, &open, &lapsed_done, &lapsed_failed, &lapsed_open] {
            store.grant(claim);
        }
        let answers = store.end_many(&[
            release(&open),
            End::Fail(ending(&failed, 1, b"failed")),
            End::Complete(ending(&done, 1, b"done")),
            release(&lapsed_open),
            End::Complete(ending(&lapsed_done, 1, b"late")),
            End::Fail(ending(&lapsed_failed, 1, b"failed late")),
            End::Fail(ending(&gone_failed, 1, b"failed before")),
            release(&gone_open),
            End::Complete(ending(&gone_done, 1, b"made anew")),
        ]);
        let (stored, released) = (Ended::Recorded(Recorded::Stored), Ended::Released(Released::Released { tries: 1 }));
        let expected = [
            released,
            stored,
            stored,
            released,
            stored,
            stored,
            Ended::Recorded(Recorded::Gone),
            Ended::Released(Released::Superseded),
            Ended::Recorded(Recorded::Recreated),
        ];
        store.equal("the answers", &answers[..], &expected[..]);
        for (claim, bytes) in [(&done, &b"done"[..]), (&lapsed_done, b"late"), (&gone_done, b"made anew")] {
            let body = must_be!(store, store.claim(&again(claim)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), bytes);
        }
        for (claim, bytes) in [(&failed, &b"failed"[..]), (&lapsed_failed, b"failed late")] {
            let body = must_be!(store, store.claim(&again(claim)), Verdict::Refused { body, .. } => body);
            store.brings(body.as_ref(), bytes);
        }
        for claim in [&open, &lapsed_open] {
            store.is(claim, StateKind::Open);
            let grant = store.grant(&again(claim));
            store.equal("how the attempt before ended, and tries", (grant.prior, grant.tries), (Prior::Released, 2));
        }
        store.is_absent(&gone_failed);
        store.is_absent(&gone_open);
    }

    /// Clause 2, for a batch: ends sent again are answered as before, and change nothing further.
    fn a_batch_of_ends_sent_again_is_answered_as_before(store) {
        let claims: Vec<_> = (0..21).map(|_| message()).collect();
        for claim in &claims {
            store.grant(claim);
        }
        let ends = |bytes: &[u8]| -> Vec<_> {
            let one = |(at, claim)| match at % 3 {
                0 => End::Complete(ending(claim, 1, bytes)),
                1 => End::Fail(ending(claim, 1, bytes)),
                _ => release(claim),
            };
            claims.iter().enumerate().map(one).collect()
        };
        let first = store.end_many(&ends(b"first"));
        let before: Vec<_> = claims.iter().map(|claim| store.inspect(claim)).collect();
        store.equal("the answers to the same again", store.end_many(&ends(b"later")), first);
        for (claim, before) in claims.iter().zip(before) {
            match before {
                Some(before) => store.is_unchanged(claim, &before),
                None => store.broken("a record of every end", &before),
            }
        }
    }

    /// Clause 3, for a batch: no end in it changes what is not held by its token.
    fn an_end_by_another_in_a_batch_changes_nothing(store) {
        let (first, held, taken) = (message(), message(), lapsing());
        for claim in [&first, &held, &taken] {
            store.grant(claim);
        }
        let fence = store.grant(&again(&taken)).fence;
        let before = [&held, &taken].map(|claim| store.is(claim, StateKind::Held));
        let answers = store.end_many(&[
            release(&again(&held)),
            End::Fail(ending(&again(&held), 1, b"stolen")),
            release(&taken),
            End::Fail(ending(&taken, 1, b"too late")),
            release(&first),
        ]);
        must_be!(store, answers[0], Ended::Released(Released::Superseded));
        must_be!(store, answers[1], Ended::Recorded(Recorded::Superseded { .. }));
        must_be!(store, answers[2], Ended::Released(Released::Superseded));
        must_be!(store, answers[3], Ended::Recorded(Recorded::Superseded { state: StateKind::Held, fence: newer }) if newer == fence);
        must_be!(store, answers[4], Ended::Released(Released::Released { tries: 1 }));
        store.is_unchanged(&held, &before[0]);
        store.is_unchanged(&taken, &before[1]);
    }

    /// `end_many`: of two for one record the second is judged after the first, whatever they are.
    fn of_two_ends_of_one_record_in_a_batch_the_first_counts(store) {
        let (done, failed, open) = (message(), message(), message());
        for claim in [&done, &failed, &open] {
            store.grant(claim);
        }
        let answers = store.end_many(&[
            End::Complete(ending(&done, 1, b"done")),
            End::Fail(ending(&failed, 1, b"failed")),
            release(&open),
            release(&done),
            End::Complete(ending(&failed, 1, b"a success after all")),
            End::Fail(ending(&open, 1, b"given back")),
        ]);
        must_be!(store, answers[0], Ended::Recorded(Recorded::Stored));
        must_be!(store, answers[1], Ended::Recorded(Recorded::Stored));
        must_be!(store, answers[2], Ended::Released(Released::Released { tries: 1 }));
        must_be!(store, answers[3], Ended::Released(Released::Superseded));
        must_be!(store, answers[4], Ended::Recorded(Recorded::Superseded { state: StateKind::Failed, .. }));
        must_be!(store, answers[5], Ended::Recorded(Recorded::Superseded { state: StateKind::Open, .. }));
        store.is(&done, StateKind::Done);
        store.is(&failed, StateKind::Failed);
        store.is(&open, StateKind::Open);
    }

    /// Clause 6, for a batch: each end in it takes effect even if the reply is dropped, or not at all, and never half.
    fn a_batch_of_ends_whose_reply_is_dropped_has_no_half_ends(store) {
        let bytes = vec![7; 10_000];
        for polled in [false, true] {
            let (done, failed, open) = (message(), message(), message());
            for claim in [&done, &failed, &open] {
                store.grant(claim);
            }
            let batch = [
                End::Complete(ending(&done, 1, &bytes)),
                End::Fail(ending(&failed, 1, b"failed")),
                release(&open),
            ];
            store.abandon(polled, |store| store.end_many(&batch));
            match store.claim(&again(&done)) {
                Verdict::InProgress { .. } => {}
                Verdict::Completed { body, .. } => store.brings(body.as_ref(), &bytes),
                other => store.broken("InProgress, or Completed with the whole body", &other),
            }
            let answers = store.end_many(&batch);
            must_be!(store, answers[0], Ended::Recorded(Recorded::Stored));
            must_be!(store, answers[1], Ended::Recorded(Recorded::Stored));
            must_be!(store, answers[2], Ended::Released(Released::Released { tries: 1 }));
            store.is(&done, StateKind::Done);
            store.is(&failed, StateKind::Failed);
            store.is(&open, StateKind::Open);
        }
    }
}

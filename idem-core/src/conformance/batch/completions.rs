//! Many completions in one call.

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{again, ending, lapsing, message};
use super::super::race::{RECORDS, race};
use super::super::random::Random;
use super::super::subject::{About, Subject, successes};
use crate::machine::{Ended, Recorded, StateKind, Verdict};

checks! {
    $ __conformance_batch_completions, "batch", Fixture;


    /// `end_many`: one answer for each completion, in order, and each as a single completion would be answered.
    fn a_batch_of_completions_is_answered_in_order(store) {
        let (held, lapsed, taken, done, failed, open, gone) =
            (message(), lapsing(), lapsing(), message(), message(), message(), message());
        for claim in [&held, &lapsed, &taken, &done, &failed, &open] {
            store.grant(claim);
        }
        let fence = store.grant(&again(&taken)).fence;
        must_be!(store, store.complete(&ending(&done, 1, b"as it was")), Recorded::Stored);
        must_be!(store, store.fail(&ending(&failed, 1, b"failed")), Recorded::Stored);
        store.release(&open);
        let other = again(&done);
        let batch = [
            ending(&held, 1, b"held"),
            ending(&lapsed, 1, b"lapsed"),
            ending(&taken, 1, b"too late"),
            ending(&gone, 1, b"gone"),
            ending(&done, 1, b"done again"),
            ending(&other, 1, b"another's"),
            ending(&failed, 1, b"a success after all"),
            ending(&open, 1, b"given back"),
        ];
        let single = |completion| store.complete(completion);
        let answers = store.complete_many(&batch);
        must_be!(store, answers[0], Recorded::Stored);
        must_be!(store, answers[1], Recorded::Stored);
        must_be!(store, answers[2], Recorded::Superseded { state: StateKind::Held, fence: newer } if newer == fence);
        must_be!(store, answers[3], Recorded::Recreated);
        must_be!(store, answers[4], Recorded::Stored);
        for at in [5, 6, 7] {
            must_be!(store, answers[at], Recorded::Superseded { .. });
        }
        // Nothing is left to change, so each is answered alone as it was in the batch.
        for at in [2, 4, 5, 6, 7] {
            store.equal("a single completion's answer", single(&batch[at]), answers[at]);
        }
        for (claim, bytes) in [
            (&held, &b"held"[..]),
            (&lapsed, b"lapsed"),
            (&gone, b"gone"),
            (&done, b"as it was"),
        ] {
            let body = must_be!(store, store.claim(&again(claim)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), bytes);
        }
        store.is(&taken, StateKind::Held);
        store.is(&open, StateKind::Open);
        must_be!(store, store.claim(&again(&failed)), Verdict::Refused { .. });
    }

    /// Clause 3, for a batch: a completion in it changes nothing that is not held by its token.
    fn a_completion_by_another_in_a_batch_changes_nothing(store) {
        let (first, second) = (message(), message());
        store.grant(&first);
        store.grant(&second);
        let before = store.is(&second, StateKind::Held);
        let answers = store.complete_many(&[ending(&first, 1, b"done"), ending(&again(&second), 1, b"stolen")]);
        must_be!(store, answers[0], Recorded::Stored);
        must_be!(store, answers[1], Recorded::Superseded { .. });
        store.is_unchanged(&second, &before);
    }

    /// `end_many`: of two for one record the second is judged after the first.
    fn of_two_completions_of_one_record_in_a_batch_the_first_counts(store) {
        let (first, gone) = (message(), message());
        store.grant(&first);
        let batch = [
            ending(&first, 1, b"the first"),
            ending(&first, 1, b"the second"),
            ending(&gone, 1, b"made anew"),
            ending(&gone, 1, b"made once more"),
            ending(&again(&first), 1, b"another's"),
        ];
        let answers = store.complete_many(&batch);
        must_be!(store, answers[0], Recorded::Stored);
        must_be!(store, answers[1], Recorded::Stored);
        must_be!(store, answers[2], Recorded::Recreated);
        must_be!(store, answers[3], Recorded::Stored);
        must_be!(store, answers[4], Recorded::Superseded { .. });
        for (claim, bytes) in [(&first, &b"the first"[..]), (&gone, b"made anew")] {
            let body = must_be!(store, store.claim(&again(claim)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), bytes);
        }
    }

    /// `end_many` of nothing is answered with nothing.
    fn an_empty_batch_of_completions_is_answered_with_nothing(store) {
        store.complete_many(&[]);
    }

    /// Clause 2, for a batch: completions sent again are answered as stored, and change nothing further.
    fn a_batch_of_completions_sent_again_is_stored_once(store) {
        let claims: Vec<_> = (0..20).map(|_| message()).collect();
        for claim in &claims {
            store.grant(claim);
        }
        let first: Vec<_> = claims.iter().map(|claim| ending(claim, 1, b"first")).collect();
        let later: Vec<_> = claims.iter().rev().map(|claim| ending(claim, 1, b"later")).collect();
        for recorded in store.complete_many(&first).into_iter().chain(store.complete_many(&later)) {
            must_be!(store, recorded, Recorded::Stored);
        }
        for claim in &claims {
            let body = must_be!(store, store.claim(&again(claim)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), b"first");
        }
    }

    /// `end_many` has no greatest number of completions, and each keeps its own result.
    fn a_batch_of_completions_may_be_large(store) {
        let claims: Vec<_> = (0..1_500).map(|_| message()).collect();
        for verdict in store.claim_many(&claims) {
            must_be!(store, verdict, Verdict::Claimed(_));
        }
        let results: Vec<_> = (0..claims.len()).map(|n| format!("result {n}").into_bytes()).collect();
        let batch: Vec<_> =
            claims.iter().zip(&results).map(|(claim, result)| ending(claim, 1, result)).collect();
        for recorded in store.complete_many(&batch) {
            must_be!(store, recorded, Recorded::Stored);
        }
        let later: Vec<_> = claims.iter().map(again).collect();
        for (verdict, result) in store.claim_many(&later).into_iter().zip(&results) {
            let body = must_be!(store, verdict, Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), result);
        }
    }

    /// Clause 6, for a batch: each completion in it takes effect even if the reply is dropped, or not at all, and never half.
    fn a_batch_of_completions_whose_reply_is_dropped_has_no_half_results(store) {
        let bytes = vec![7; 10_000];
        for polled in [false, true] {
            let claims: Vec<_> = (0..8).map(|_| message()).collect();
            for claim in &claims {
                store.grant(claim);
            }
            let batch: Vec<_> = claims.iter().map(|claim| ending(claim, 1, &bytes)).collect();
            store.abandon(polled, |store| store.end_many(&successes(&batch)));
            for claim in &claims {
                match store.claim(&again(claim)) {
                    Verdict::InProgress { .. } => {}
                    Verdict::Completed { body, .. } => store.brings(body.as_ref(), &bytes),
                    other => store.broken("InProgress, or Completed with the whole body", &other),
                }
            }
            for recorded in store.complete_many(&batch) {
                must_be!(store, recorded, Recorded::Stored);
            }
        }
    }

    /// Batches of completions at once, of the same records in different orders, neither fail nor wait for each other for ever,
    /// and each record keeps the result of its holder.
    fn batches_of_completions_at_once_keep_the_holders_results(store) {
        for _ in 0..4 {
            let claims: Vec<_> = (0..RECORDS).map(|_| message()).collect();
            for claim in &claims {
                store.grant(claim);
            }
            let all = race(&[()], 8, |(), runner| {
                let mut order: Vec<_> = claims.iter().collect();
                Random::new(runner as u64 + 1).shuffle(&mut order);
                // Half of the runners are the holder, who sends again, and half are others.
                let one = |claim| match runner % 2 {
                    0 => ending(claim, 1, b"the holder's"),
                    _ => ending(&again(claim), 1, b"another's"),
                };
                let batch: Vec<_> = order.into_iter().map(one).collect();
                let answers = store.try_ask(&"end_many, in a race", |store| store.end_many(&successes(&batch)))?;
                Ok((runner, answers))
            });
            for answer in all.into_iter().flatten() {
                let (runner, answers) =
                    answer.unwrap_or_else(|error| store.broken("answers for every batch", &error));
                store.equal("answers of a batch", answers.len(), RECORDS);
                let right = |ended: &Ended| match runner % 2 {
                    0 => *ended == Ended::Recorded(Recorded::Stored),
                    _ => matches!(ended, Ended::Recorded(Recorded::Superseded { .. })),
                };
                store.holds("Stored for the holder, and Superseded for others", answers.iter().all(right), &answers);
            }
            for claim in &claims {
                let body = must_be!(store, store.claim(&again(claim)), Verdict::Completed { body, .. } => body);
                store.brings(body.as_ref(), b"the holder's");
            }
        }
    }
}

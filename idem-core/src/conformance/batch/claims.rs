//! Many claims in one call.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{OTHER_PAYLOAD, again, ending, lapsing, message};
use super::super::race::{RECORDS, race};
use super::super::random::Random;
use super::super::subject::{About, Subject};
use crate::machine::{Claim, OnLapse, Prior, Recorded, Released, StateKind, Verdict};

checks! {
    $ __conformance_batch_claims, "batch", Fixture;


    /// `identity`: tells this store from all others of the process. Without that, what calls ask through handles of their own goes in a
    /// batch of one each, and a message twice in a batch is claimed twice at once.
    fn a_handle_has_the_identity_of_its_store(store) {
        let (own, handle) = (store.store().identity(), store.store().handle());
        store.equal("the identity of a handle", handle.identity(), own);
        store.equal("the identity of a handle of a handle", handle.handle().identity(), own);
    }

    /// `claim_many`: one verdict for each claim, in order, and each as a single claim would be answered.
    fn a_batch_is_answered_in_order(store) {
        let (held, lapsed, open, done, failed) = (message(), lapsing(), message(), message(), message());
        let parked = Claim { on_lapse: OnLapse::Park, ..lapsing() };
        let spent = Claim { max_tries: 1, ..lapsing() };
        let ended = Claim { keep: Duration::ZERO, ..lapsing() };
        for claim in [&held, &lapsed, &open, &done, &failed, &parked, &spent, &ended] {
            store.grant(claim);
        }
        must_be!(store, store.release(&open), Released::Released { .. });
        must_be!(store, store.complete(&ending(&done, 1, b"done")), Recorded::Stored);
        must_be!(store, store.fail(&ending(&failed, 1, b"failed")), Recorded::Stored);
        let mismatched = Claim { fingerprint: OTHER_PAYLOAD, ..again(&held) };
        let batch = [
            message(),
            again(&held),
            again(&lapsed),
            again(&open),
            again(&done),
            again(&failed),
            mismatched,
            again(&parked),
            again(&spent),
            again(&ended),
            held.clone(),
            message(),
        ];
        let verdicts = store.claim_many(&batch);
        let mut verdicts = verdicts.into_iter();
        let mut next =
            || verdicts.next().unwrap_or_else(|| store.broken("a verdict for each claim", &"none"));
        must_be!(store, next(), Verdict::Claimed(grant) if grant.tries == 1 && grant.prior == Prior::None);
        must_be!(store, next(), Verdict::InProgress { tries: 1, .. });
        must_be!(store, next(), Verdict::Claimed(grant) if grant.tries == 2 && grant.prior == Prior::Lapsed);
        must_be!(store, next(), Verdict::Claimed(grant) if grant.tries == 2 && grant.prior == Prior::Released);
        let replayed = must_be!(store, next(), Verdict::Completed { body, .. } => body);
        store.brings(replayed.as_ref(), b"done");
        let refused = must_be!(store, next(), Verdict::Refused { body, .. } => body);
        store.brings(refused.as_ref(), b"failed");
        must_be!(store, next(), Verdict::Mismatch { state: StateKind::Held });
        must_be!(store, next(), Verdict::Lapsed { tries: 1, .. });
        must_be!(store, next(), Verdict::Spent { tries: 1, .. });
        must_be!(store, next(), Verdict::Claimed(grant) if grant.tries == 1 && grant.prior == Prior::None);
        must_be!(store, next(), Verdict::Claimed(grant) if grant.resumed && grant.tries == 1);
        must_be!(store, next(), Verdict::Claimed(grant) if grant.tries == 1 && !grant.resumed);
        // What was granted is held, by the attempt that asked.
        for claim in [&batch[0], &batch[2], &batch[3], &batch[9], &batch[11]] {
            must_be!(store, store.claim(&again(claim)), Verdict::InProgress { .. });
            must_be!(store, store.complete(&ending(claim, 1, b"done")), Recorded::Stored);
        }
    }

    /// `claim_many`: of two equal keys the second is judged after the first.
    fn equal_keys_of_a_batch_are_judged_one_after_the_other(store) {
        let first = message();
        let batch = [
            first.clone(),
            again(&first),
            message(),
            first.clone(),
            Claim { fingerprint: OTHER_PAYLOAD, ..again(&first) },
        ];
        let verdicts = store.claim_many(&batch);
        let fence = must_be!(store, &verdicts[0], Verdict::Claimed(grant) if !grant.resumed && grant.tries == 1 => grant.fence);
        must_be!(store, &verdicts[1], Verdict::InProgress { tries: 1, .. });
        must_be!(store, &verdicts[2], Verdict::Claimed(grant) if grant.tries == 1);
        must_be!(store, &verdicts[3], Verdict::Claimed(grant) if grant.resumed && grant.fence == fence && grant.tries == 1);
        must_be!(store, &verdicts[4], Verdict::Mismatch { state: StateKind::Held });
        store.equal("the record's tries", store.is(&first, StateKind::Held).tries, 1);
        must_be!(store, store.complete(&ending(&first, fence, b"done")), Recorded::Stored);
    }

    /// `claim_many`: of two equal keys the second is judged after the first, and takes over where that has lapsed already.
    fn a_batch_can_take_over_from_itself(store) {
        let first = Claim { max_tries: 2, ..lapsing() };
        let batch = [first.clone(), Claim { lease: Duration::ZERO, ..again(&first) }, again(&first)];
        let verdicts = store.claim_many(&batch);
        let one = must_be!(store, &verdicts[0], Verdict::Claimed(grant) if grant.tries == 1 => grant.fence);
        let two = must_be!(store, &verdicts[1], Verdict::Claimed(grant) if grant.tries == 2 && grant.prior == Prior::Lapsed => grant.fence);
        store.holds("a higher fence for the second", one < two, &verdicts);
        must_be!(store, &verdicts[2], Verdict::Spent { tries: 2, .. });
    }

    /// `claim_many` of nothing is answered with nothing.
    fn an_empty_batch_is_answered_with_nothing(store) {
        store.claim_many(&[]);
    }

    /// Clause 2, for a batch: sent again it gives the same grants, resumed.
    fn a_batch_sent_again_is_resumed(store) {
        let batch: Vec<_> = (0..20).map(|_| message()).collect();
        let first = store.claim_many(&batch);
        let second = store.claim_many(&batch);
        for ((claim, first), second) in batch.iter().zip(&first).zip(&second) {
            let first = must_be!(store, first, Verdict::Claimed(grant) if !grant.resumed => grant);
            must_be!(store, second, Verdict::Claimed(grant)
                if grant.resumed && (grant.fence, grant.tries, grant.prior) == (first.fence, first.tries, first.prior));
            store.equal("the record's tries", store.is(claim, StateKind::Held).tries, 1);
        }
    }

    /// `claim_many` has no greatest number of claims: a store that sends them in parts still answers all of them, in order.
    fn a_batch_may_be_large(store) {
        let batch: Vec<_> = (0..1_500).map(|_| message()).collect();
        for verdict in store.claim_many(&batch) {
            must_be!(store, verdict, Verdict::Claimed(grant) if grant.tries == 1);
        }
        let later: Vec<_> = batch.iter().rev().map(again).collect();
        for verdict in store.claim_many(&later) {
            must_be!(store, verdict, Verdict::InProgress { tries: 1, .. });
        }
    }

    /// Batches at once, of the same keys in different orders and with repeats, neither fail nor wait for each other for ever,
    /// and grant each key once.
    fn batches_at_once_grant_each_key_once(store) {
        for _ in 0..4 {
            let messages: Vec<_> = (0..RECORDS).map(|_| message()).collect();
            let all = race(&[()], 8, |(), runner| {
                let mut order: Vec<_> = messages.iter().chain(&messages[..8]).collect();
                Random::new(runner as u64 + 1).shuffle(&mut order);
                let batch: Vec<_> = order.into_iter().map(again).collect();
                let verdicts = store.try_ask(&"claim_many, in a race", |store| store.claim_many(&batch))?;
                Ok(batch.into_iter().zip(verdicts).collect::<Vec<_>>())
            });
            let mut answers = Vec::new();
            for answer in all.into_iter().flatten() {
                match answer {
                    Ok(answer) => answers.extend(answer),
                    Err(error) => store.broken("verdicts for every batch", &error),
                }
            }
            store.equal("verdicts of all batches", answers.len(), 8 * (RECORDS + 8));
            for message in &messages {
                let of_it: Vec<_> = answers
                    .iter()
                    .filter(|(claim, _)| claim.id == message.id)
                    .map(|(_, verdict)| verdict)
                    .collect();
                let granted = of_it.iter().filter(|verdict| matches!(verdict, Verdict::Claimed(_))).count();
                let refused =
                    of_it.iter().filter(|verdict| matches!(verdict, Verdict::InProgress { .. })).count();
                store.holds(
                    "one grant, and InProgress for all others",
                    granted == 1 && granted + refused == of_it.len(),
                    &of_it,
                );
            }
        }
    }
}

//! Faults of ends in batches.

use std::collections::HashMap;

use idem::machine::{Completion, End, Ended, Recorded, Released};

use crate::reference::Fault;

fn result(end: &End) -> Option<&Completion> {
    match end {
        End::Complete(completion) | End::Fail(completion) => Some(completion),
        End::Release { .. } => None,
    }
}

/// The same ends with other results.
fn with_results(ends: &[End], of: impl Fn(&Completion) -> Completion) -> Vec<End> {
    let one = |end: &End| match end {
        End::Complete(completion) => End::Complete(of(completion)),
        End::Fail(completion) => End::Fail(of(completion)),
        End::Release { .. } => end.clone(),
    };
    ends.iter().map(one).collect()
}

faults! {
    BatchAnswersBackwards {
        fn batch_answers(&self, answers: Vec<Ended>) -> Vec<Ended> {
            answers.into_iter().rev().collect()
        }
    }

    BatchSaysStored {
        fn batch_answers(&self, answers: Vec<Ended>) -> Vec<Ended> {
            let one = |answer| match answer {
                Ended::Recorded(_) => Ended::Recorded(Recorded::Stored),
                Ended::Released(_) => Ended::Released(Released::Released { tries: 1 }),
            };
            answers.into_iter().map(one).collect()
        }
    }

    BatchTrustsTokens {
        fn batch_trusts_tokens(&self) -> bool {
            true
        }
    }

    /// As a statement does that merges what it is given for one key.
    BatchKeepsTheLast {
        fn batch_of(&self, ends: &[End]) -> Vec<End> {
            let results = ends.iter().filter_map(result);
            let last: HashMap<_, _> =
                results.map(|completion| ((completion.id, completion.token), completion.clone())).collect();
            with_results(ends, |completion| last[&(completion.id, completion.token)].clone())
        }
    }

    BatchSharesAResult {
        fn batch_of(&self, ends: &[End]) -> Vec<End> {
            let first = ends.iter().find_map(result).map(|completion| completion.body.clone());
            let body = first.unwrap_or_default();
            with_results(ends, |completion| Completion { body: body.clone(), ..completion.clone() })
        }
    }

    BatchIsCut {
        fn batch_of(&self, ends: &[End]) -> Vec<End> {
            ends.iter().take(1_000).cloned().collect()
        }
    }

    /// As a statement does that knows of successes alone.
    BatchOnlySucceeds {
        fn batch_of(&self, ends: &[End]) -> Vec<End> {
            let one = |end: &End| match end {
                End::Fail(completion) => End::Complete(completion.clone()),
                other => other.clone(),
            };
            ends.iter().map(one).collect()
        }
    }

    /// What is given back goes before results.
    BatchReleasesFirst {
        fn batch_of(&self, ends: &[End]) -> Vec<End> {
            let mut batch = ends.to_vec();
            for (at, end) in ends.iter().enumerate().filter(|(_, end)| result(end).is_none()) {
                if let Some(before) = batch[..at].iter().position(|other| other.id() == end.id()) {
                    batch.swap(before, at);
                }
            }
            batch
        }
    }
}

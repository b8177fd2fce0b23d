//! Faults of completions in batches.

use std::collections::HashMap;

use idem::machine::{Completion, Recorded};

use crate::reference::Fault;

faults! {
    BatchAnswersBackwards {
        fn batch_answers(&self, answers: Vec<Recorded>) -> Vec<Recorded> {
            answers.into_iter().rev().collect()
        }
    }

    BatchSaysStored {
        fn batch_answers(&self, answers: Vec<Recorded>) -> Vec<Recorded> {
            vec![Recorded::Stored; answers.len()]
        }
    }

    BatchTrustsTokens {
        fn batch_trusts_tokens(&self) -> bool {
            true
        }
    }

    /// As a statement does that merges what it is given for one key.
    BatchKeepsTheLast {
        fn batch_of(&self, completions: &[Completion]) -> Vec<Completion> {
            let last: HashMap<_, _> =
                completions.iter().map(|completion| ((completion.id, completion.token), completion)).collect();
            let one = |completion: &Completion| last[&(completion.id, completion.token)].clone();
            completions.iter().map(one).collect()
        }
    }

    BatchSharesAResult {
        fn batch_of(&self, completions: &[Completion]) -> Vec<Completion> {
            let one = |completion: &Completion| Completion { body: completions[0].body.clone(), ..completion.clone() };
            completions.iter().map(one).collect()
        }
    }

    BatchIsCut {
        fn batch_of(&self, completions: &[Completion]) -> Vec<Completion> {
            completions.iter().take(1_000).cloned().collect()
        }
    }
}

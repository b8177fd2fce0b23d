//! The store beside the machine: asks it the same, in a case's own names, and compares what it answers.

use std::collections::HashMap;
use std::fmt::Debug;
use std::time::Duration;

use super::Time;
use super::protocol::{ATTEMPTS, Exchange, RECORDS, State, Transition, grants};
use crate::conformance::messages::fresh_id;
use crate::conformance::subject::Subject;
use crate::machine::{
    Answer, Claim, Completion, End, Forgotten, Operation, Recorded, Renewal, Renewed, Snapshot, Verdict,
};
use crate::{RecordId, Reply, Store, StoreError, Token};

/// An answer that is not the protocol's.
pub(super) struct Mismatch {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Mismatch {
    fn new(expected: impl Into<String>, found: &impl Debug) -> Self {
        Self { expected: expected.into(), found: format!("{found:?}") }
    }
}

/// One run of a sequence.
pub(super) struct Beside<'s> {
    store: &'s Subject<'s>,
    time: Time<'s>,
    ids: Vec<RecordId>,
    tokens: Vec<Token>,
    /// What the store granted where the machine granted this: a store's fences may be greater, and must grow.
    fences: HashMap<(RecordId, u64), u64>,
    last_fences: HashMap<RecordId, u64>,
}

impl<'s> Beside<'s> {
    pub(super) fn new(store: &'s Subject<'s>, time: Time<'s>) -> Self {
        Self {
            store,
            time,
            ids: (0..RECORDS).map(|_| fresh_id()).collect(),
            tokens: (0..=ATTEMPTS).map(|_| Token::fresh()).collect(),
            fences: HashMap::new(),
            last_fences: HashMap::new(),
        }
    }

    /// Does in the store what `transition` did to the machine, which is in `state` now.
    pub(super) fn apply(&mut self, state: &State, transition: &Transition) -> Result<(), Mismatch> {
        self.advance(state.waited);
        match transition {
            Transition::Pass(by) => self.advance(*by),
            Transition::Sweep(limit) => {
                let swept = self.ask(&format!("sweep up to {limit}"), |store| store.sweep(*limit))?;
                if swept > *limit as u64 {
                    return Err(Mismatch::new(format!("at most {limit}"), &swept));
                }
            }
            Transition::Ask(..) | Transition::Again => {
                for exchange in &state.exchanges {
                    let (id, operation) = (self.id(exchange.id), self.operation(&exchange.operation));
                    let answer =
                        self.ask(&format!("{operation:?} on {id:?}"), |store| send(store, id, &operation))?;
                    self.compare(exchange, answer)?;
                }
            }
            Transition::ClaimMany(claims) => {
                let claims: Vec<_> = claims.iter().map(|claim| self.claim(claim)).collect();
                let verdicts =
                    self.ask(&format!("claim_many of {claims:?}"), |store| store.claim_many(&claims))?;
                self.compare_all(state, verdicts, Answer::Claim)?;
            }
            Transition::EndMany(_) => {
                let ends: Vec<_> = state.exchanges.iter().filter_map(|exchange| self.end(exchange)).collect();
                let answers = self.ask(&format!("end_many of {ends:?}"), |store| store.end_many(&ends))?;
                self.compare_all(state, answers, Answer::from)?;
            }
        }
        Ok(())
    }

    fn advance(&self, by: Duration) {
        if let Time::Moved(clock) = self.time
            && !by.is_zero()
        {
            clock.advance(by);
            self.store.note("the clock goes on", format_args!("by {by:?}"));
        }
    }

    fn ask<T: Send + Debug>(
        &self,
        asked: &str,
        ask: impl Fn(&dyn Store) -> Reply<T> + Sync,
    ) -> Result<T, Mismatch> {
        self.store.try_ask(&asked, ask).map_err(|error: StoreError| Mismatch::new("an answer", &error))
    }

    fn compare_all<T: Debug>(
        &mut self,
        state: &State,
        found: Vec<T>,
        answer: fn(T) -> Answer,
    ) -> Result<(), Mismatch> {
        if found.len() != state.exchanges.len() {
            return Err(Mismatch::new(format!("{} answers", state.exchanges.len()), &found));
        }
        state
            .exchanges
            .iter()
            .zip(found)
            .try_for_each(|(exchange, found)| self.compare(exchange, answer(found)))
    }

    fn compare(&mut self, exchange: &Exchange, mut found: Answer) -> Result<(), Mismatch> {
        let id = exchange.id;
        if let (Some(expected), Some(granted)) = (grants(&exchange.answer), grants(&found)) {
            let before = self.last_fences.insert(id, granted);
            if before >= Some(granted) {
                return Err(Mismatch::new(format!("a fence above {before:?}"), &found));
            }
            self.fences.insert((id, expected), granted);
        }
        let mut expected = exchange.answer.clone();
        if let Some(fence) = fence_in(&mut expected) {
            *fence = self.fence(id, *fence);
        }
        // A cache in front may have answered, and may know its answer to be true for a shorter time.
        if let (
            Answer::Claim(Verdict::Completed { valid_for: expected, skipped, .. }),
            Answer::Claim(Verdict::Completed { valid_for: found, skipped: by_cache, .. }),
        ) = (&mut expected, &found)
        {
            *skipped = *by_cache;
            *expected = (*expected).min(*found);
        }
        if matches!(self.time, Time::Own) {
            times_in(&mut expected, |time| *time = Duration::ZERO);
            times_in(&mut found, |time| *time = Duration::ZERO);
        }
        if found == expected { Ok(()) } else { Err(Mismatch::new(format!("{expected:?}"), &found)) }
    }

    fn id(&self, model: RecordId) -> RecordId {
        self.ids[usize::from(model.as_bytes()[0])]
    }

    fn token(&self, model: Token) -> Token {
        self.tokens[usize::from(model.as_bytes()[0])]
    }

    fn fence(&self, id: RecordId, model: u64) -> u64 {
        self.fences.get(&(id, model)).copied().unwrap_or(model)
    }

    fn claim(&self, claim: &Claim) -> Claim {
        Claim { id: self.id(claim.id), token: self.token(claim.token), ..claim.clone() }
    }

    fn completion(&self, ending: &Completion) -> Completion {
        Completion {
            id: self.id(ending.id),
            token: self.token(ending.token),
            fence: self.fence(ending.id, ending.fence),
            ..ending.clone()
        }
    }

    fn end(&self, exchange: &Exchange) -> Option<End> {
        match self.operation(&exchange.operation) {
            Operation::Complete(ending) => Some(End::Complete(ending)),
            Operation::Fail(ending) => Some(End::Fail(ending)),
            Operation::Release(token) => Some(End::Release { id: self.id(exchange.id), token }),
            _ => None,
        }
    }

    fn operation(&self, operation: &Operation) -> Operation {
        match operation {
            Operation::Claim(claim) => Operation::Claim(self.claim(claim)),
            Operation::Renew(renewal) => Operation::Renew(Renewal {
                id: self.id(renewal.id),
                token: self.token(renewal.token),
                lease: renewal.lease,
            }),
            Operation::Complete(ending) => Operation::Complete(self.completion(ending)),
            Operation::Fail(ending) => Operation::Fail(self.completion(ending)),
            Operation::Release(token) => Operation::Release(self.token(*token)),
            Operation::Forget { force } => Operation::Forget { force: *force },
            Operation::Inspect => Operation::Inspect,
        }
    }
}

fn send(store: &dyn Store, id: RecordId, operation: &Operation) -> Reply<Answer> {
    match operation {
        Operation::Claim(claim) => store.claim(claim).map(Answer::Claim),
        Operation::Renew(renewal) => store.renew(renewal).map(Answer::Renew),
        Operation::Complete(ending) => store.complete(ending).map(Answer::Record),
        Operation::Fail(ending) => store.fail(ending).map(Answer::Record),
        Operation::Release(token) => store.release(&id, token).map(Answer::Release),
        Operation::Forget { force } => store.forget(&id, *force).map(Answer::Forget),
        Operation::Inspect => store.inspect(&id).map(Answer::Inspect),
    }
}

fn fence_in(answer: &mut Answer) -> Option<&mut u64> {
    match answer {
        Answer::Claim(Verdict::Claimed(grant)) => Some(&mut grant.fence),
        Answer::Record(Recorded::Superseded { fence, .. }) => Some(fence),
        Answer::Forget(Forgotten::Forgotten(snapshot)) | Answer::Inspect(Some(snapshot)) => {
            Some(&mut snapshot.fence)
        }
        _ => None,
    }
}

fn times_in(answer: &mut Answer, mut each: impl FnMut(&mut Duration)) {
    match answer {
        Answer::Claim(Verdict::Claimed(grant)) => each(&mut grant.first_age),
        Answer::Claim(Verdict::Completed { age, valid_for, .. }) => {
            each(age);
            each(valid_for);
        }
        Answer::Claim(
            Verdict::Refused { age: time, .. }
            | Verdict::InProgress { remaining: time, .. }
            | Verdict::Lapsed { first_age: time, .. }
            | Verdict::Spent { first_age: time, .. },
        )
        | Answer::Renew(Renewed::Renewed { remaining: time })
        | Answer::Forget(Forgotten::StillHeld { remaining: time }) => each(time),
        Answer::Forget(Forgotten::Forgotten(snapshot)) | Answer::Inspect(Some(snapshot)) => {
            let Snapshot { first_age, lease, done_age, ends_in, .. } = snapshot;
            [Some(first_age), lease.as_mut(), done_age.as_mut(), Some(ends_in)]
                .into_iter()
                .flatten()
                .for_each(each);
        }
        _ => {}
    }
}

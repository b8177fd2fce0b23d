//! The reference: what is asked, in the model's own names, and what `decide` answers.

use std::collections::HashMap;
use std::time::Duration;

use proptest::strategy::{BoxedStrategy, Just, Strategy as _};
use proptest_state_machine::ReferenceStateMachine;

use super::transitions;
use crate::machine::{
    Answer, Change, Claim, Completion, End, Operation, Record, State as RecordState, Verdict, decide,
};
use crate::{RecordId, Timestamp, Token};

/// Records that a sequence is about.
pub(super) const RECORDS: u8 = 2;
/// Attempts that claim them. One more ends what it never claimed.
pub(super) const ATTEMPTS: u8 = 3;

/// One step of a sequence. Records and attempts are numbers here; each run of a sequence has real ones of its own.
#[derive(Clone, Debug)]
pub(super) enum Transition {
    Ask(RecordId, Box<Operation>),
    /// The operation before is sent again, as by an attempt that has not heard the answer.
    Again,
    ClaimMany(Vec<Claim>),
    EndMany(Vec<End>),
    Sweep(usize),
    /// The clock goes on.
    Pass(Duration),
}

impl Transition {
    /// Looks at all that is left, for the end of a sequence.
    pub(super) fn at_each_record() -> impl Iterator<Item = Self> {
        (0..RECORDS).map(|number| Self::Ask(id(number), Box::new(Operation::Inspect)))
    }
}

/// The name of a record in the model.
pub(super) const fn id(number: u8) -> RecordId {
    RecordId::from_bytes([number; 32])
}

/// The name of an attempt in the model.
pub(super) const fn token(number: u8) -> Token {
    Token::from_bytes([number; 16])
}

/// What the protocol says at one point of a sequence.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) now: Timestamp,
    /// The shortest time that the store tells apart, if its clock is moved by the machine.
    pub(super) tick: Option<Duration>,
    /// Those that have ended too: nothing says when a store deletes them.
    pub(super) records: HashMap<RecordId, Record>,
    /// The highest fence that each record was ever granted.
    fences: HashMap<RecordId, u64>,
    /// What was asked last, unless time has passed since.
    last: Option<(RecordId, Operation)>,
    /// For how long the machine waited before it asked.
    pub(super) waited: Duration,
    /// What was asked in the last step, and what the protocol answers.
    pub(super) exchanges: Vec<Exchange>,
}

#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) id: RecordId,
    pub(super) operation: Operation,
    pub(super) answer: Answer,
}

impl State {
    pub(super) fn new(tick: Option<Duration>) -> Self {
        Self {
            now: Timestamp::from_micros(1_000_000_000),
            tick,
            records: HashMap::new(),
            fences: HashMap::new(),
            last: None,
            waited: Duration::ZERO,
            exchanges: Vec::new(),
        }
    }

    fn ask(&mut self, id: RecordId, operation: &Operation) {
        self.let_fences_grow(id);
        self.judge(id, operation);
        self.last = Some((id, operation.clone()));
    }

    /// After a loss of its record, a fence is held up by the clock alone: so it is past the last fence when the next one is due.
    fn let_fences_grow(&mut self, id: RecordId) {
        let Some(tick) = self.tick else { return };
        let gone = self.records.get(&id).is_none_or(|record| record.drop_at <= self.now);
        let last = self.fences.get(&id).copied().unwrap_or(0);
        if gone && last >= self.now.as_micros() {
            let behind = Timestamp::from_micros(last).since(self.now);
            let ticks = u32::try_from(behind.as_micros() / tick.as_micros().max(1)).unwrap_or(u32::MAX);
            let wait = tick.saturating_mul(ticks.saturating_add(1));
            self.waited += wait;
            self.now = self.now.after(wait);
        }
    }

    fn judge(&mut self, id: RecordId, operation: &Operation) {
        if self.tick.is_none() {
            // No two operations are answered at one instant.
            self.now = self.now.after(Duration::from_millis(1));
        }
        let operation = self.with_fence(id, operation);
        let (answer, change) = decide(self.records.get(&id), &operation, self.now);
        match change {
            Change::None => {}
            Change::Put(record) => {
                let highest = self.fences.entry(id).or_default();
                *highest = record.fence.max(*highest);
                self.records.insert(id, record);
            }
            Change::Remove => {
                self.records.remove(&id);
            }
        }
        self.exchanges.push(Exchange { id, operation, answer });
    }

    /// A completion carries the fence that was granted.
    fn with_fence(&self, id: RecordId, operation: &Operation) -> Operation {
        let fence = self.fences.get(&id).copied().unwrap_or(1);
        match operation.clone() {
            Operation::Complete(ending) => Operation::Complete(Completion { fence, ..ending }),
            Operation::Fail(ending) => Operation::Fail(Completion { fence, ..ending }),
            other => other,
        }
    }

    /// Whether the record says how the work ended.
    pub(super) fn is_finished(&self, id: RecordId) -> bool {
        self.records.get(&id).is_some_and(|record| {
            self.now < record.drop_at && matches!(record.state, RecordState::Done(_) | RecordState::Failed(_))
        })
    }

    /// Whether an attempt would send this. It has one payload from its claim to its end, and one end. What a store makes of other ones
    /// has checks of its own: a cache in front of it cannot tell these apart.
    fn may_end(&self, ending: &Completion) -> bool {
        match self.records.get(&ending.id).filter(|record| record.token == ending.token) {
            Some(Record { state: RecordState::Done(_) | RecordState::Failed(_), .. }) => false,
            Some(record) => record.fingerprint == ending.fingerprint,
            None => true,
        }
    }
}

/// The machine. Its clock does not run: a store has answered before the next thing is asked.
pub(super) struct Protocol;

impl ReferenceStateMachine for Protocol {
    type State = State;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<State> {
        Just(State::new(Some(Duration::from_micros(1)))).boxed()
    }

    fn transitions(state: &State) -> BoxedStrategy<Transition> {
        transitions::from(state)
    }

    fn preconditions(state: &State, transition: &Transition) -> bool {
        match transition {
            Transition::Ask(_, operation) => match &**operation {
                Operation::Complete(ending) | Operation::Fail(ending) => state.may_end(ending),
                _ => true,
            },
            Transition::ClaimMany(_) | Transition::Sweep(_) => true,
            Transition::EndMany(ends) => {
                let mut state = state.clone();
                ends.iter().all(|end| {
                    let may = match end {
                        End::Complete(ending) | End::Fail(ending) => state.may_end(ending),
                        End::Release { .. } => true,
                    };
                    state.judge(*end.id(), &end.operation());
                    may
                })
            }
            Transition::Again => state.last.is_some(),
            Transition::Pass(_) => state.tick.is_some(),
        }
    }

    fn apply(mut state: State, transition: &Transition) -> State {
        state.waited = Duration::ZERO;
        state.exchanges.clear();
        match transition {
            Transition::Ask(id, operation) => state.ask(*id, operation),
            Transition::Again => {
                if let Some((id, operation)) = state.last.clone() {
                    state.ask(id, &operation);
                }
            }
            Transition::ClaimMany(claims) => {
                (0..RECORDS).for_each(|number| state.let_fences_grow(id(number)));
                for claim in claims {
                    state.judge(claim.id, &Operation::Claim(claim.clone()));
                }
            }
            Transition::EndMany(ends) => {
                for end in ends {
                    state.judge(*end.id(), &end.operation());
                }
            }
            Transition::Sweep(_) => {}
            Transition::Pass(by) => {
                state.now = state.now.after(*by);
                state.last = None;
            }
        }
        state
    }
}

/// Whether an answer grants a new attempt.
pub(super) fn grants(answer: &Answer) -> Option<u64> {
    match answer {
        Answer::Claim(Verdict::Claimed(grant)) if !grant.resumed => Some(grant.fence),
        _ => None,
    }
}

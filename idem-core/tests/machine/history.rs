//! Random histories of one record: several attempts, an operator, a sweeper, and a clock that likes to stop at the ends of
//! things, one before and one after.

use idem_core::OnLapse;
use idem_core::machine::{State, StateKind};
use proptest::prelude::*;

use super::*;

/// One attempt. What it sends again is the same again, except that a completion carries the fence that was granted.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) claim: Claim,
    pub(crate) renewal: Renewal,
    pub(crate) completion: Completion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Send {
    Claim,
    Renew,
    Complete,
    Fail,
    Release,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Lease,
    Record,
    Result,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// An attempt, by its place in the list, sends something.
    Attempt(usize, Send),
    Forget {
        force: bool,
    },
    Inspect,
    /// A record that has ended is deleted.
    Sweep,
    Pass(u64),
    /// The clock goes to this end, to one microsecond before it or to one after it, if that lies ahead.
    GoTo(End, i8),
}

#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) steps: Vec<Step>,
}

/// One operation of a history, with what came before and after it.
pub(crate) struct Event<'h> {
    pub(crate) now: Timestamp,
    pub(crate) before: Option<&'h Record>,
    pub(crate) operation: &'h Operation,
    /// Who sent it, by its place in the list; nobody for an operator.
    pub(crate) sender: Option<usize>,
    pub(crate) answer: &'h Answer,
    pub(crate) change: &'h Change,
    pub(crate) after: &'h Place,
}

impl Event<'_> {
    /// The record before, if it had not ended.
    pub(crate) fn live(&self) -> Option<&Record> {
        self.before.filter(|record| self.now < record.drop_at)
    }

    pub(crate) fn state_after(&self) -> Option<StateKind> {
        self.after.record.as_ref().map(|record| record.state.kind())
    }
}

impl History {
    /// Plays it, and shows each operation to `look`. Returns the record and the clock at the end.
    pub(crate) fn play(
        &self,
        mut look: impl FnMut(&Event<'_>) -> Result<(), TestCaseError>,
    ) -> Result<Place, TestCaseError> {
        let mut place = Place::new();
        let mut fences = vec![0; self.attempts.len()];
        for step in &self.steps {
            let (operation, sender) = match step {
                Step::Attempt(at, send) => (self.attempts[*at].operation(*send, fences[*at]), Some(*at)),
                Step::Forget { force } => (Operation::Forget { force: *force }, None),
                Step::Inspect => (Operation::Inspect, None),
                Step::Sweep => {
                    place.sweep();
                    continue;
                }
                Step::Pass(micros) => {
                    place.pass(Duration::from_micros(*micros));
                    continue;
                }
                Step::GoTo(end, offset) => {
                    place.go_to(*end, *offset);
                    continue;
                }
            };
            let before = place.record.clone();
            let (answer, change) = place.apply(&operation);
            if let (Some(at), Answer::Claim(Verdict::Claimed(grant))) = (sender, &answer) {
                fences[at] = grant.fence;
            }
            let (now, before) = (place.now, before.as_ref());
            look(&Event {
                now,
                before,
                operation: &operation,
                sender,
                answer: &answer,
                change: &change,
                after: &place,
            })?;
        }
        Ok(place)
    }
}

impl Attempt {
    pub(crate) fn operation(&self, send: Send, fence: u64) -> Operation {
        let completion = Completion { fence, ..self.completion.clone() };
        match send {
            Send::Claim => Operation::Claim(self.claim.clone()),
            Send::Renew => Operation::Renew(self.renewal.clone()),
            Send::Complete => Operation::Complete(completion),
            Send::Fail => Operation::Fail(completion),
            Send::Release => Operation::Release(self.claim.token),
        }
    }
}

impl Place {
    pub(crate) fn sweep(&mut self) {
        let now = self.now;
        self.record.take_if(|record| record.drop_at <= now);
    }

    pub(crate) fn go_to(&mut self, end: End, offset: i8) {
        let Some(record) = &self.record else { return };
        let instant = match (end, &record.state) {
            (End::Record, _) => record.drop_at,
            (End::Lease, State::Held { lease_at, .. }) => *lease_at,
            (End::Result, State::Done(kept) | State::Failed(kept)) => kept.body_until,
            _ => return,
        };
        let instant = at(instant.as_micros().saturating_add_signed(offset.into()));
        self.now = self.now.max(instant);
    }
}

/// Few and short times, so that ends meet.
fn times() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0), Just(1), Just(2), 3..20_u64, 20..100_u64].prop_map(Duration::from_micros)
}

/// A record that is to live for no time at all is not kept, so there is nothing to say about it.
fn lives() -> impl Strategy<Value = Duration> {
    times().prop_map(|time| time.max(Duration::from_micros(1)))
}

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let fingerprints = prop_oneof![8 => Just(FIRST), 1 => Just(OTHER), 1 => Just(None)];
    let lapses = prop_oneof![3 => Just(OnLapse::Rerun), 1 => Just(OnLapse::Park)];
    let tries = prop_oneof![1 => Just(1), 1 => Just(2), 3 => Just(u32::MAX)];
    let one = (fingerprints, (times(), lives(), times(), times(), lives()), lapses, tries);
    prop::collection::vec(one, 1..5).prop_map(|attempts| {
        attempts
            .into_iter()
            .zip([A, B, C, Token::from_bytes([0xdd; 16])])
            .map(|((fingerprint, (lease, keep, renewed, ttl, keep_done), on_lapse, max_tries), token)| {
                let claim = Claim { fingerprint, lease, keep, on_lapse, max_tries, ..claim(token) };
                let renewal = Renewal { id: claim.id, token, lease: renewed };
                let body = Body::copy_from(&token.as_bytes()[..1]);
                let completion =
                    Completion { fingerprint, ttl, keep: keep_done, body, ..completion(token, "") };
                Attempt { claim, renewal, completion }
            })
            .collect()
    })
}

fn steps(attempts: usize) -> impl Strategy<Value = Vec<Step>> {
    let sends = prop_oneof![
        6 => Just(Send::Claim),
        2 => Just(Send::Renew),
        2 => Just(Send::Complete),
        1 => Just(Send::Fail),
        1 => Just(Send::Release),
    ];
    let ends = prop_oneof![2 => Just(End::Lease), 1 => Just(End::Record), 1 => Just(End::Result)];
    let step = prop_oneof![
        12 => (0..attempts, sends).prop_map(|(at, send)| Step::Attempt(at, send)),
        1 => any::<bool>().prop_map(|force| Step::Forget { force }),
        1 => Just(Step::Inspect),
        1 => Just(Step::Sweep),
        3 => (0..12_u64).prop_map(Step::Pass),
        4 => (ends, -1..2_i8).prop_map(|(end, offset)| Step::GoTo(end, offset)),
    ];
    prop::collection::vec(step, 1..40)
}

pub(crate) fn histories() -> impl Strategy<Value = History> {
    attempts().prop_flat_map(|attempts| {
        steps(attempts.len()).prop_map(move |steps| History { attempts: attempts.clone(), steps })
    })
}

pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

// Without this, the invariants could hold because nothing ever happens.
#[test]
fn histories_reach_every_answer() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut reached = std::collections::BTreeSet::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..500 {
        let history = histories().new_tree(&mut runner).unwrap().current();
        let look = |event: &Event<'_>| {
            let whole = format!("{:?}", event.answer);
            let end = whole.find(['{', ',']).unwrap_or(whole.len());
            reached.insert(whole[..end].trim_end().trim_matches(')').to_owned());
            Ok(())
        };
        history.play(look).unwrap();
    }
    let reached: Vec<_> = reached.iter().map(String::as_str).collect();
    let expected = [
        "Claim(Claimed(Grant",
        "Claim(Completed",
        "Claim(InProgress",
        "Claim(Lapsed",
        "Claim(Mismatch",
        "Claim(Refused",
        "Claim(Spent",
        "Forget(Absent",
        "Forget(Forgotten(Snapshot",
        "Forget(StillHeld",
        "Inspect(None",
        "Inspect(Some(Snapshot",
        "Record(Gone",
        "Record(Recreated",
        "Record(Stored",
        "Record(Superseded",
        "Release(Released",
        "Release(Superseded",
        "Renew(Lost(None",
        "Renew(Lost(Some(Done",
        "Renew(Lost(Some(Failed",
        "Renew(Lost(Some(Held",
        "Renew(Lost(Some(Open",
        "Renew(Renewed",
    ];
    assert_eq!(reached, expected);
}

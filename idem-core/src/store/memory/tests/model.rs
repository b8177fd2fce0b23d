//! Random operations against a plain map that is driven by `decide`: every answer must be the same.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::{MemoryStore, id, token};
use crate::machine::{
    Answer, Change, Claim, Completion, Forgotten, OnLapse, Operation, Record, Recorded, Released, Renewal,
    Renewed, State, Verdict, decide,
};
use crate::store::Store;
use crate::{Body, Fingerprint, ManualClock, RecordId, StoreErrorKind, Timestamp};

#[derive(Clone, Debug)]
enum Step {
    Apply(u64, Operation),
    /// Several claims at once.
    Batch(Vec<(u64, Operation)>),
    Sweep(usize),
    Advance(Duration),
    /// To the next end of a lease, body or record, so that boundary instants are met on the dot.
    AdvanceToEnd(u8),
}

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        3 => (0_u64..40).prop_map(Duration::from_micros),
        2 => (1_u64..50).prop_map(Duration::from_millis),
        1 => Just(Duration::from_secs(45 * 86_400)),
        1 => Just(Duration::MAX),
    ]
}

fn bodies() -> impl Strategy<Value = Body> {
    prop_oneof![Just(0), 1_usize..=94, 95_usize..300]
        .prop_flat_map(|len| proptest::collection::vec(any::<u8>(), len))
        .prop_map(Body::from)
}

fn fingerprints() -> impl Strategy<Value = Option<Fingerprint>> {
    prop_oneof![
        4 => Just(None),
        2 => Just(Some(Fingerprint::from_bytes([1; 16]))),
        1 => Just(Some(Fingerprint::from_bytes([2; 16]))),
    ]
}

fn claims() -> impl Strategy<Value = (u64, Operation)> {
    let on_lapse = prop_oneof![3 => Just(OnLapse::Rerun), 1 => Just(OnLapse::Park)];
    (0..5_u64, 0..4_u64, fingerprints(), durations(), durations(), on_lapse, 1..400_u32).prop_map(
        |(number, by, fingerprint, lease, keep, on_lapse, max_tries)| {
            let (id, token) = (id(number), token(by));
            (
                number,
                Operation::Claim(Claim {
                    id,
                    token,
                    fingerprint,
                    lease,
                    keep,
                    on_lapse,
                    durable: false,
                    max_tries,
                }),
            )
        },
    )
}

fn operations() -> impl Strategy<Value = (u64, Operation)> {
    let ended = (0..5_u64, 0..4_u64, fingerprints(), bodies(), durations(), durations(), any::<bool>());
    let ended = ended.prop_map(|(number, by, fingerprint, body, ttl, keep, failed)| {
        // The fence of a completion counts only if the record is gone; `with_fence` puts a real one in.
        let (id, token) = (id(number), token(by));
        let completion = Completion { id, token, fence: 0, fingerprint, body, ttl, keep };
        (number, if failed { Operation::Fail(completion) } else { Operation::Complete(completion) })
    });
    let renewed = (0..5_u64, 0..4_u64, durations()).prop_map(|(number, by, lease)| {
        (number, Operation::Renew(Renewal { id: id(number), token: token(by), lease }))
    });
    prop_oneof![
        5 => claims(),
        3 => ended,
        1 => renewed,
        1 => (0..5_u64, 0..4_u64).prop_map(|(number, by)| (number, Operation::Release(token(by)))),
        1 => (0..5_u64, any::<bool>()).prop_map(|(number, force)| (number, Operation::Forget { force })),
        1 => (0..5_u64).prop_map(|number| (number, Operation::Inspect)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => operations().prop_map(|(number, operation)| Step::Apply(number, operation)),
        1 => proptest::collection::vec(claims(), 0..8).prop_map(Step::Batch),
        1 => prop_oneof![Just(1), Just(2), Just(usize::MAX)].prop_map(Step::Sweep),
        2 => durations().prop_filter("the end of time", |step| *step < Duration::from_secs(86_400)).prop_map(Step::Advance),
        2 => any::<u8>().prop_map(Step::AdvanceToEnd),
    ];
    proptest::collection::vec(step, 1..120)
}

/// The plain map, and the highest fence that each record was ever granted.
#[derive(Default)]
struct Model {
    records: HashMap<RecordId, Record>,
    fences: HashMap<RecordId, u64>,
}

impl Model {
    /// Judges, and puts the store's own fence in place of `decide`'s: it must only grow.
    fn judge(
        &mut self,
        id: RecordId,
        operation: &Operation,
        now: Timestamp,
        answer: &Answer,
    ) -> Result<(), TestCaseError> {
        let (mut expected, change) = decide(self.records.get(&id), operation, now);
        match change {
            Change::None => {}
            Change::Put(mut record) => {
                if let (Answer::Claim(Verdict::Claimed(expected)), Answer::Claim(Verdict::Claimed(found))) =
                    (&mut expected, answer)
                    && !expected.resumed
                {
                    prop_assert!(found.fence >= expected.fence, "a fence below the clock or the record");
                    let before = self.fences.insert(id, found.fence);
                    prop_assert!(before < Some(found.fence), "a fence that does not grow");
                    expected.fence = found.fence;
                    record.fence = found.fence;
                }
                self.records.insert(id, record);
            }
            Change::Remove => {
                self.records.remove(&id);
            }
        }
        prop_assert_eq!(answer, &expected);
        Ok(())
    }

    fn ends_after(&self, now: Timestamp) -> Vec<Timestamp> {
        let mut ends: Vec<_> = self
            .records
            .values()
            .flat_map(|record| match &record.state {
                State::Open => [record.drop_at, record.drop_at],
                State::Held { lease_at, .. } => [*lease_at, record.drop_at],
                State::Done(kept) | State::Failed(kept) => [kept.body_until, record.drop_at],
            })
            .filter(|end| *end > now && *end < Timestamp::MAX)
            .collect();
        ends.sort_unstable();
        ends
    }

    fn living(&self, now: Timestamp) -> usize {
        self.records.values().filter(|record| now < record.drop_at).count()
    }
}

fn ask(store: &MemoryStore, id: RecordId, operation: &Operation) -> Result<Answer, crate::StoreError> {
    Ok(match operation {
        Operation::Claim(claim) => Answer::Claim(store.claim(claim).wait()?),
        Operation::Renew(renewal) => Answer::Renew(store.renew(renewal).wait()?),
        Operation::Complete(completion) => Answer::Record(store.complete(completion).wait()?),
        Operation::Fail(completion) => Answer::Record(store.fail(completion).wait()?),
        Operation::Release(token) => Answer::Release(store.release(&id, token).wait()?),
        Operation::Forget { force } => Answer::Forget(store.forget(&id, *force).wait()?),
        Operation::Inspect => Answer::Inspect(store.inspect(&id).wait()?),
    })
}

/// Puts the last fence that the record was granted into a completion, as its attempt would.
fn with_fence(mut operation: Operation, model: &Model) -> Operation {
    if let Operation::Complete(completion) | Operation::Fail(completion) = &mut operation {
        completion.fence = model.fences.get(&completion.id).copied().unwrap_or(0);
    }
    operation
}

fn run(store: &MemoryStore, clock: &ManualClock, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    for step in steps {
        let now = clock.now();
        match step {
            Step::Apply(number, operation) => {
                let operation = with_fence(operation, &model);
                let answer = ask(store, id(number), &operation).unwrap();
                model.judge(id(number), &operation, now, &answer)?;
            }
            Step::Batch(batch) => {
                let claims: Vec<_> = batch
                    .iter()
                    .filter_map(|(_, operation)| match operation {
                        Operation::Claim(claim) => Some(claim.clone()),
                        _ => None,
                    })
                    .collect();
                let verdicts = store.claim_many(&claims).wait().unwrap();
                prop_assert_eq!(verdicts.len(), claims.len());
                for ((number, operation), verdict) in batch.iter().zip(verdicts) {
                    model.judge(id(*number), operation, now, &Answer::Claim(verdict))?;
                }
            }
            Step::Sweep(limit) => {
                let before = store.len();
                let swept = usize::try_from(store.sweep(limit).wait().unwrap()).unwrap();
                prop_assert_eq!(before - store.len(), swept);
                let over = before - model.living(now);
                prop_assert_eq!(swept, over.min(limit), "a sweep that left what it could have taken");
            }
            Step::Advance(by) => clock.advance(by),
            Step::AdvanceToEnd(which) => {
                let ends = model.ends_after(now);
                if !ends.is_empty() {
                    clock.advance_to(ends[usize::from(which) % ends.len().min(3)]);
                }
            }
        }
        let now = clock.now();
        prop_assert!(store.len() >= model.living(now));
    }
    store.sweep(usize::MAX).wait().unwrap();
    prop_assert_eq!(store.len(), model.living(clock.now()));
    for (id, record) in &model.records {
        let answer = Answer::Inspect(store.inspect(id).wait().unwrap());
        let (expected, _) = decide(Some(record), &Operation::Inspect, clock.now());
        prop_assert_eq!(answer, expected);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_answer_is_that_of_the_protocol(steps in steps()) {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().clock(clock.clone()).build();
        run(&store, &clock, steps)?;
    }

    #[test]
    fn every_answer_is_that_of_the_protocol_in_one_shard(steps in steps()) {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().max_records(5).clock(clock.clone()).build();
        run(&store, &clock, steps)?;
    }

    /// The store keeps three records and is asked about five: it may forget, but neither a live claim nor its own bounds.
    #[test]
    fn a_store_that_is_too_small_keeps_live_claims_and_its_bound(steps in steps()) {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().max_records(3).clock(clock.clone()).build();
        // The ends of the leases that run, and of their records.
        let mut held: HashMap<RecordId, (Timestamp, Timestamp)> = HashMap::new();
        let mut fences: HashMap<RecordId, u64> = HashMap::new();
        for step in steps {
            let now = clock.now();
            match step {
                Step::Apply(number, operation) => match (ask(&store, id(number), &operation), operation) {
                    (Ok(Answer::Claim(Verdict::Claimed(grant))), Operation::Claim(claim)) => {
                        if !grant.resumed {
                            let before = fences.insert(claim.id, grant.fence);
                            prop_assert!(before < Some(grant.fence), "a fence that does not grow");
                        }
                        held.insert(claim.id, (now.after(claim.lease), now.after(claim.keep)));
                    }
                    (Ok(Answer::Renew(Renewed::Renewed { .. })), Operation::Renew(renewal)) => {
                        if let Some((lease_at, _)) = held.get_mut(&renewal.id) {
                            *lease_at = now.after(renewal.lease);
                        }
                    }
                    (
                        Ok(
                            Answer::Record(Recorded::Stored | Recorded::Recreated)
                            | Answer::Release(Released::Released { .. })
                            | Answer::Forget(Forgotten::Forgotten(_)),
                        ),
                        _,
                    ) => {
                        held.remove(&id(number));
                    }
                    (Ok(_), _) => {}
                    (Err(error), _) => prop_assert_eq!(error.kind(), StoreErrorKind::Full),
                },
                Step::Sweep(limit) => drop(store.sweep(limit).wait()),
                Step::Advance(by) => clock.advance(by),
                Step::Batch(_) | Step::AdvanceToEnd(_) => clock.advance(Duration::from_micros(17)),
            }
            prop_assert!(store.len() <= 3);
            for (id, (lease_at, drop_at)) in &held {
                let now = clock.now();
                if now < *lease_at && now < *drop_at {
                    let lease = store.inspect(id).wait().unwrap().and_then(|snapshot| snapshot.lease);
                    prop_assert_eq!(lease, Some(lease_at.since(now)), "a live claim is gone");
                }
            }
        }
    }
}

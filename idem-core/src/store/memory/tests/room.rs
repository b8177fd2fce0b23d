//! Random operations, and how many records the store has room for and takes. What it answers is compared with the protocol by the
//! conformance suite.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;

use super::{MemoryStore, id, token};
use crate::machine::{
    Answer, Claim, Completion, Forgotten, OnLapse, Operation, Recorded, Released, Renewal, Renewed, Verdict,
};
use crate::store::Store;
use crate::{Body, Fingerprint, ManualClock, RecordId, StoreErrorKind, Timestamp};

/// Records that are asked about.
const RECORDS: u64 = 5;

#[derive(Clone, Debug)]
enum Step {
    Apply(u64, Box<Operation>),
    Sweep(usize),
    Advance(Duration),
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
    (0..RECORDS, 0..4_u64, fingerprints(), durations(), durations(), on_lapse, 1..400_u32).prop_map(
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
    let ended = (0..RECORDS, 0..4_u64, fingerprints(), bodies(), durations(), durations(), any::<bool>());
    let ended = ended.prop_map(|(number, by, fingerprint, body, ttl, keep, failed)| {
        let (id, token) = (id(number), token(by));
        let completion = Completion { id, token, fence: 0, fingerprint, body, ttl, keep };
        (number, if failed { Operation::Fail(completion) } else { Operation::Complete(completion) })
    });
    let renewed = (0..RECORDS, 0..4_u64, durations()).prop_map(|(number, by, lease)| {
        (number, Operation::Renew(Renewal { id: id(number), token: token(by), lease }))
    });
    prop_oneof![
        5 => claims(),
        3 => ended,
        1 => renewed,
        1 => (0..RECORDS, 0..4_u64).prop_map(|(number, by)| (number, Operation::Release(token(by)))),
        1 => (0..RECORDS, any::<bool>()).prop_map(|(number, force)| (number, Operation::Forget { force })),
        1 => (0..RECORDS).prop_map(|number| (number, Operation::Inspect)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => operations().prop_map(|(number, operation)| Step::Apply(number, Box::new(operation))),
        1 => prop_oneof![Just(1), Just(2), Just(usize::MAX)].prop_map(Step::Sweep),
        3 => durations().prop_filter("the end of time", |step| *step < Duration::from_secs(86_400)).prop_map(Step::Advance),
    ];
    proptest::collection::vec(step, 1..120)
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

proptest! {
    #[test]
    fn a_sweep_takes_all_that_has_ended_up_to_its_limit(steps in steps()) {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().clock(clock.clone()).build();
        let living = || (0..RECORDS).filter(|number| store.inspect(&id(*number)).wait().unwrap().is_some()).count();
        for step in steps.into_iter().chain([Step::Sweep(usize::MAX)]) {
            match step {
                Step::Apply(number, operation) => drop(ask(&store, id(number), &operation).unwrap()),
                Step::Sweep(limit) => {
                    let (before, living) = (store.len(), living());
                    let swept = usize::try_from(store.sweep(limit).wait().unwrap()).unwrap();
                    prop_assert_eq!(before - store.len(), swept);
                    prop_assert_eq!(swept, (before - living).min(limit), "a sweep that left what it could have taken");
                }
                Step::Advance(by) => clock.advance(by),
            }
            prop_assert!(store.len() >= living());
        }
        prop_assert_eq!(store.len(), living());
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
                Step::Apply(number, operation) => match (ask(&store, id(number), &operation), *operation) {
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

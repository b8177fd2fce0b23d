//! Any sequence of operations gets the answers of `decide` over a map.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use idem_core::machine::{
    Answer, Change, Claim, Completion, OnLapse, Operation, Record, Renewal, State, decide,
};
use idem_core::{Body, Fingerprint, ManualClock, RecordId, SqliteStore, Store, Timestamp, Token};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::asks::{Dir, awaited, clock, id, open};

#[derive(Clone, Debug)]
enum Step {
    One { key: u8, operation: Operation, awaited: bool },
    Many(Vec<(u8, Claim)>),
    Sweep(usize),
    Advance(Duration),
}

/// Few instants, so that ends are hit exactly; and the end of time.
fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        8 => (0_u64..4).prop_map(Duration::from_millis),
        1 => Just(Duration::MAX),
        1 => Just(Duration::from_nanos(999)),
    ]
}

fn token() -> impl Strategy<Value = Token> {
    (0_u8..3).prop_map(|n| Token::from_bytes([n; 16]))
}

fn fingerprint() -> impl Strategy<Value = Option<Fingerprint>> {
    prop_oneof![4 => Just(None), 1 => (0_u8..2).prop_map(|n| Some(Fingerprint::from_bytes([n; 16])))]
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        vec(any::<u8>(), 0..200).prop_map(Body::from),
        Just(Body::copy_from(b"\0\xff\xfe 'x'); --\r\n")),
        Just(Body::copy_from(&vec![0xa5; 5_000])),
    ]
}

fn claims() -> impl Strategy<Value = Claim> {
    (token(), fingerprint(), span(), span(), any::<bool>(), 1_u32..4, any::<bool>()).prop_map(
        |(token, fingerprint, lease, keep, park, max_tries, durable)| Claim {
            id: id(""),
            token,
            fingerprint,
            lease,
            keep,
            on_lapse: if park { OnLapse::Park } else { OnLapse::Rerun },
            max_tries,
            durable,
        },
    )
}

fn completions() -> impl Strategy<Value = Completion> {
    (token(), any::<u64>(), fingerprint(), body(), span(), span()).prop_map(
        |(token, fence, fingerprint, body, ttl, keep)| Completion {
            id: id(""),
            token,
            // A fence near the greatest would leave no room for the next.
            fence: fence >> 8,
            fingerprint,
            body,
            ttl,
            keep,
        },
    )
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => claims().prop_map(Operation::Claim),
        2 => (token(), span()).prop_map(|(token, lease)| Operation::Renew(Renewal { id: id(""), token, lease })),
        3 => completions().prop_map(Operation::Complete),
        1 => completions().prop_map(Operation::Fail),
        2 => token().prop_map(Operation::Release),
        1 => any::<bool>().prop_map(|force| Operation::Forget { force }),
        1 => Just(Operation::Inspect),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0_u8..2, operations(), any::<bool>())
            .prop_map(|(key, operation, awaited)| Step::One { key, operation, awaited }),
        1 => vec((0_u8..3, claims()), 0..5).prop_map(Step::Many),
        1 => (0_usize..3).prop_map(Step::Sweep),
        4 => (0_u64..3).prop_map(|ms| Step::Advance(Duration::from_millis(ms))),
    ]
}

/// Sends `operation` to the store, about `id`.
fn ask(store: &SqliteStore, id: RecordId, operation: &Operation, as_task: bool) -> Answer {
    macro_rules! answer {
        ($reply:expr) => {
            if as_task { awaited($reply) } else { $reply.wait() }.unwrap()
        };
    }
    match operation {
        Operation::Claim(claim) => Answer::Claim(answer!(store.claim(&Claim { id, ..claim.clone() }))),
        Operation::Renew(renewal) => Answer::Renew(answer!(store.renew(&Renewal { id, ..renewal.clone() }))),
        Operation::Complete(done) => {
            Answer::Record(answer!(store.complete(&Completion { id, ..done.clone() })))
        }
        Operation::Fail(done) => Answer::Record(answer!(store.fail(&Completion { id, ..done.clone() }))),
        Operation::Release(token) => Answer::Release(answer!(store.release(&id, token))),
        Operation::Forget { force } => Answer::Forget(answer!(store.forget(&id, *force))),
        Operation::Inspect => Answer::Inspect(answer!(store.inspect(&id))),
    }
}

#[derive(Default)]
struct Model(HashMap<RecordId, Record>);

impl Model {
    fn ask(&mut self, id: RecordId, operation: &Operation, clock: &ManualClock) -> Answer {
        let (answer, change) = decide(self.0.get(&id), operation, clock.now());
        match change {
            Change::None => {}
            Change::Put(record) => drop(self.0.insert(id, record)),
            Change::Remove => {
                // What is left of a record whose fence is not yet in the past: the next grant's has to be greater.
                if let Some(record) = self.0.remove(&id)
                    && record.fence >= clock.now().as_micros()
                {
                    self.0.insert(id, Record { state: State::Open, drop_at: Timestamp::ZERO, ..record });
                }
            }
        }
        answer
    }
}

struct World {
    clock: ManualClock,
    store: SqliteStore,
    _dir: Dir,
}

/// One file for all cases, whose keys differ: what one leaves behind must not matter to the next.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let dir = Dir::new();
        let clock = clock();
        World { store: open(&dir.file(), &clock), clock, _dir: dir }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_operation_answers_and_changes_what_the_protocol_says(steps in vec(steps(), 1..40)) {
        static CASE: AtomicU32 = AtomicU32::new(0);
        let case = CASE.fetch_add(1, Ordering::Relaxed);
        let World { clock, store, .. } = world();
        let mut model = Model::default();
        let record = |key: u8| id(&format!("{case}:{key}"));
        for step in steps {
            match step {
                Step::One { key, operation, awaited } => {
                    let expected = model.ask(record(key), &operation, clock);
                    prop_assert_eq!(ask(store, record(key), &operation, awaited), expected, "{:?}", operation);
                }
                Step::Many(claims) => {
                    let claims: Vec<_> =
                        claims.into_iter().map(|(key, claim)| Claim { id: record(key), ..claim }).collect();
                    let expected: Vec<_> = claims
                        .iter()
                        .map(|claim| model.ask(claim.id, &Operation::Claim(claim.clone()), clock))
                        .collect();
                    let verdicts = store.claim_many(&claims).wait().unwrap();
                    prop_assert_eq!(verdicts.into_iter().map(Answer::Claim).collect::<Vec<_>>(), expected);
                }
                Step::Sweep(limit) => {
                    let swept = store.sweep(limit).wait().unwrap();
                    prop_assert!(swept <= limit as u64);
                }
                Step::Advance(step) => clock.advance(step),
            }
        }
        for key in 0..3 {
            let expected = model.ask(record(key), &Operation::Inspect, clock);
            prop_assert_eq!(ask(store, record(key), &Operation::Inspect, false), expected);
        }
    }
}

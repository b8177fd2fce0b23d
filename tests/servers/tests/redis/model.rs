//! Random operations beside the protocol, on the paths that know the time to a second only: what they say must be what `decide` says,
//! but for the times in it.
//!
//! With times handed in, the conformance suite's own model runs against the scripts; here leases are an hour, or over at once.

use std::collections::HashMap;
use std::time::Duration;

use idem::machine::{
    Answer, Change, Claim, Completion, Forgotten, OnLapse, Operation, Record, Recorded, Renewal, Renewed,
    Verdict, decide,
};
use idem::{Body, Fingerprint, RecordId, RedisStore, RedisStoreBuilder, Reply, Store, Timestamp, Token};

use crate::messages::{DAY, hear, message};
use crate::place::{open, prefix, server};

const SEQUENCES: usize = 60;
const STEPS: usize = 40;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).expect("below the bound")
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

struct Run {
    random: Random,
    ids: [RecordId; 3],
    tokens: [Token; 3],
    records: HashMap<RecordId, Record>,
    /// Stands for the server's clock; goes on by a step for each operation.
    now: Timestamp,
}

impl Run {
    fn operation(&mut self) -> (RecordId, Operation) {
        let id = self.random.pick(&self.ids);
        let last = self.records.get(&id).map(|record| record.token);
        let token = match last {
            Some(last) if self.random.below(2) == 0 => last,
            _ => self.random.pick(&self.tokens),
        };
        let fingerprint = self.random.pick(&[
            Some(Fingerprint::from_bytes([7; 16])),
            Some(Fingerprint::from_bytes([0; 16])),
            None,
        ]);
        let lease = self.random.pick(&[Duration::ZERO, Duration::from_hours(1), Duration::from_hours(1)]);
        let claim = Claim {
            id,
            token,
            fingerprint,
            lease,
            keep: DAY,
            on_lapse: self.random.pick(&[OnLapse::Rerun, OnLapse::Rerun, OnLapse::Park]),
            max_tries: self.random.pick(&[1, 2, 5, u32::MAX]),
            durable: false,
        };
        let end = Completion {
            id,
            token,
            fence: 1,
            fingerprint,
            body: Body::from(vec![b'x'; self.random.pick(&[0, 1, 300])]),
            ttl: self.random.pick(&[Duration::ZERO, Duration::from_hours(1), Duration::from_hours(1)]),
            keep: DAY,
        };
        let operation = match self.random.below(12) {
            0..=4 => Operation::Claim(claim),
            5..=7 => Operation::Complete(end),
            8 => Operation::Fail(end),
            9 => Operation::Renew(Renewal { id, token, lease }),
            10 => Operation::Release(token),
            _ => Operation::Forget { force: self.random.below(2) == 0 },
        };
        (id, operation)
    }

    fn expected(&mut self, id: RecordId, operation: &Operation) -> Answer {
        self.now = self.now.after(Duration::from_millis(1));
        let (answer, change) = decide(self.records.get(&id), operation, self.now);
        match change {
            Change::None => {}
            Change::Put(record) => {
                self.records.insert(id, record);
            }
            Change::Remove => {
                self.records.remove(&id);
            }
        }
        answer
    }
}

fn ask(store: &RedisStore, id: RecordId, operation: &Operation) -> Reply<Answer> {
    match operation {
        Operation::Claim(claim) => store.claim(claim).map(Answer::Claim),
        Operation::Renew(renewal) => store.renew(renewal).map(Answer::Renew),
        Operation::Complete(end) => store.complete(end).map(Answer::Record),
        Operation::Fail(end) => store.fail(end).map(Answer::Record),
        Operation::Release(token) => store.release(&id, token).map(Answer::Release),
        Operation::Forget { force } => store.forget(&id, *force).map(Answer::Forget),
        Operation::Inspect => store.inspect(&id).map(Answer::Inspect),
    }
}

/// An answer without the times and the fences in it.
fn shape(answer: &Answer) -> String {
    match answer {
        Answer::Claim(Verdict::Claimed(grant)) => {
            format!("claimed {} {:?} {}", grant.tries, grant.prior, grant.resumed)
        }
        Answer::Claim(Verdict::Completed { body, .. }) => format!("completed {body:?}"),
        Answer::Claim(Verdict::Refused { body, .. }) => format!("refused {body:?}"),
        Answer::Claim(Verdict::InProgress { tries, .. }) => format!("in progress {tries}"),
        Answer::Claim(Verdict::Lapsed { tries, .. }) => format!("lapsed {tries}"),
        Answer::Claim(Verdict::Spent { tries, .. }) => format!("spent {tries}"),
        Answer::Renew(Renewed::Lost(state)) => format!("lost {state:?}"),
        Answer::Record(Recorded::Superseded { state, .. }) => format!("superseded {state:?}"),
        Answer::Forget(Forgotten::Forgotten(snapshot)) => {
            format!("forgotten {:?} {}", snapshot.state, snapshot.tries)
        }
        Answer::Forget(Forgotten::StillHeld { .. }) => "still held".to_owned(),
        other => format!("{other:?}"),
    }
}

fn compare(with: fn(RedisStoreBuilder) -> RedisStoreBuilder) {
    let server = server();
    let store = open(with(RedisStore::builder(server.url()).prefix(prefix())));
    let [seed, ..] = *Token::fresh().as_bytes();
    for sequence in 0..SEQUENCES {
        let seed = u64::from(seed) << 32 | sequence as u64;
        let mut run = Run {
            random: Random(seed),
            ids: std::array::from_fn(|_| message().id),
            tokens: std::array::from_fn(|_| Token::fresh()),
            records: HashMap::new(),
            now: Timestamp::from_micros(1_000_000),
        };
        let mut fences = HashMap::new();
        for step in 0..STEPS {
            let (id, operation) = run.operation();
            let answer = hear(ask(&store, id, &operation)).expect("an answer");
            let expected = run.expected(id, &operation);
            assert_eq!(shape(&answer), shape(&expected), "seed {seed}, step {step}: {operation:?}");
            if let Answer::Claim(Verdict::Claimed(grant)) = answer
                && !grant.resumed
            {
                let before = fences.insert(id, grant.fence);
                assert!(before < Some(grant.fence), "seed {seed}, step {step}: {before:?} {grant:?}");
            }
        }
    }
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn any_sequence_of_quick_operations_and_scripts_is_answered_as_the_protocol_says() {
    compare(|builder| builder);
}

#[test]
#[cfg_attr(not(redis_server), ignore = "redis-server is not on PATH")]
fn any_sequence_of_scripts_alone_is_answered_as_the_protocol_says() {
    compare(RedisStoreBuilder::only_scripts);
}

//! The protocol over a map.

use std::collections::BTreeMap;

use idem_core::machine::{
    Answer, Change, Claim, Completion, End, OnLapse, Operation, Record, Renewal, State, decide,
};
use idem_core::{Body, Fingerprint, RecordId, Timestamp, Token};

use super::steps::{Ask, By, Ending};

/// Records, those that have ended too: as long as they are in the file, fences grow past theirs.
#[derive(Clone, Default)]
pub(super) struct Model {
    pub(super) records: BTreeMap<u16, Record>,
}

/// What is asked about one key.
pub(super) struct Asked {
    pub(super) key: u16,
    pub(super) operation: Operation,
}

impl Model {
    /// What a step asks, now that it is known who holds the record.
    pub(super) fn asked(&self, key: u16, ask: &Ask) -> Asked {
        let id = id(key);
        let token = |by: By| match by {
            By::Attempt(number) => token(number),
            By::Holder => self.records.get(&key).map_or(token(0), |record| record.token),
        };
        let completion = |ending: &Ending| Completion {
            id,
            token: token(ending.by),
            fence: self.records.get(&key).map_or(1, |record| record.fence),
            fingerprint: fingerprint(ending.payload),
            body: Body::copy_from(&vec![ending.len.to_le_bytes()[0]; ending.len.into()]),
            ttl: ending.ttl,
            keep: ending.keep,
        };
        let operation = match ask {
            Ask::Claim { by, payload, lease, keep, parks, max_tries, durable } => Operation::Claim(Claim {
                id,
                token: token(*by),
                fingerprint: fingerprint(*payload),
                lease: *lease,
                keep: *keep,
                on_lapse: if *parks { OnLapse::Park } else { OnLapse::Rerun },
                max_tries: *max_tries,
                durable: *durable,
            }),
            Ask::Renew { by, lease } => Operation::Renew(Renewal { id, token: token(*by), lease: *lease }),
            Ask::Complete(ending) => Operation::Complete(completion(ending)),
            Ask::Fail(ending) => Operation::Fail(completion(ending)),
            Ask::Release(by) => Operation::Release(token(*by)),
            Ask::Forget { force } => Operation::Forget { force: *force },
            Ask::Inspect => Operation::Inspect,
        };
        Asked { key, operation }
    }

    pub(super) fn ask(&mut self, asked: &Asked, now: Timestamp) -> Answer {
        let Asked { key, operation } = asked;
        let (answer, change) = decide(self.records.get(key), operation, now);
        match change {
            Change::None => {}
            Change::Put(record) => drop(self.records.insert(*key, record)),
            Change::Remove => {
                // Fences grow across deletion: one that is not yet in the past has to be kept.
                self.records.retain(|at, record| at != key || record.fence >= now.as_micros());
                if let Some(record) = self.records.get_mut(key) {
                    (record.state, record.drop_at) = (State::Open, Timestamp::ZERO);
                }
            }
        }
        answer
    }

    pub(super) fn look(&self, key: u16, now: Timestamp) -> Answer {
        decide(self.records.get(&key), &Operation::Inspect, now).0
    }

    /// The keys whose records a store may delete by itself.
    pub(super) fn removable(&self, now: Timestamp) -> impl Iterator<Item = u16> {
        let may_go = move |record: &Record| record.drop_at <= now && record.fence < now.as_micros();
        self.records.iter().filter(move |(_, record)| may_go(record)).map(|(key, _)| *key)
    }
}

impl Asked {
    pub(super) fn claim(&self) -> Option<Claim> {
        match &self.operation {
            Operation::Claim(claim) => Some(claim.clone()),
            _ => None,
        }
    }

    pub(super) fn end(&self) -> Option<End> {
        match &self.operation {
            Operation::Complete(ending) => Some(End::Complete(ending.clone())),
            Operation::Fail(ending) => Some(End::Fail(ending.clone())),
            Operation::Release(token) => Some(End::Release { id: id(self.key), token: *token }),
            _ => None,
        }
    }
}

/// The names of records. They begin with all bytes there are, and each in the same way as another one.
pub(super) fn id(key: u16) -> RecordId {
    let mut bytes = [0; 32];
    let start = u64::from(key / 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes[..8].copy_from_slice(&start.to_be_bytes());
    bytes[30..].copy_from_slice(&key.to_be_bytes());
    RecordId::from_bytes(bytes)
}

/// The key of a name.
pub(super) fn key(id: &[u8]) -> u16 {
    u16::from_be_bytes([id[30], id[31]])
}

fn token(number: u8) -> Token {
    Token::from_bytes([number + 1; 16])
}

fn fingerprint(payload: u8) -> Option<Fingerprint> {
    (payload > 0).then(|| Fingerprint::from_bytes([payload; 16]))
}

//! What the store must hold to, with time handed in.

use std::time::Duration;

use super::MemoryStore;
use crate::machine::{Claim, Completion, Grant, OnLapse, Recorded, Verdict};
use crate::store::Store;
use crate::{Body, ManualClock, RecordId, StoreError, Token};

mod bounds;
mod expiry;
mod handles;
mod races;
mod room;
mod segments;

const SECOND: Duration = Duration::from_secs(1);

/// Ids as good as digests: every byte depends on the number.
fn id(number: u64) -> RecordId {
    let mut bytes = [0; 32];
    let mut word = number;
    for chunk in bytes.chunks_exact_mut(8) {
        word = (word ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word ^= word >> 31;
        word = word.wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 29;
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    RecordId::from_bytes(bytes)
}

fn token(number: u64) -> Token {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Token::from_bytes(bytes)
}

/// A claim of `id(number)` by `token(number)`: a lease of 10 s, kept for 100 s.
fn claim(number: u64) -> Claim {
    Claim {
        id: id(number),
        token: token(number),
        fingerprint: None,
        lease: 10 * SECOND,
        keep: 100 * SECOND,
        on_lapse: OnLapse::Rerun,
        durable: false,
        max_tries: 5,
    }
}

/// The completion of that claim: the body is replayed for 20 s, the record kept for 100 s.
fn completion(number: u64, body: &[u8]) -> Completion {
    Completion {
        id: id(number),
        token: token(number),
        fence: 0,
        fingerprint: None,
        body: Body::copy_from(body),
        ttl: 20 * SECOND,
        keep: 100 * SECOND,
    }
}

fn manual() -> (MemoryStore, ManualClock) {
    let clock = ManualClock::new();
    (MemoryStore::builder().clock(clock.clone()).build(), clock)
}

/// Claims, expecting a grant.
fn grant(store: &MemoryStore, claim: &Claim) -> Grant {
    match store.claim(claim).wait() {
        Ok(Verdict::Claimed(grant)) => grant,
        other => panic!("expected a grant, got {other:?}"),
    }
}

/// Claims and completes.
fn finish(store: &MemoryStore, number: u64, body: &[u8]) {
    grant(store, &claim(number));
    assert_eq!(store.complete(&completion(number, body)).wait().unwrap(), Recorded::Stored);
}

/// The answer to a claim of a finished record by another attempt: the body that is replayed, if it still is.
#[allow(clippy::result_large_err, reason = "a test looks at the whole verdict")]
fn replay(store: &MemoryStore, number: u64) -> Result<Option<Body>, Verdict> {
    let another = Claim { token: token(number + 1_000_000), ..claim(number) };
    match store.claim(&another).wait().unwrap() {
        Verdict::Completed { body, .. } => Ok(body),
        other => Err(other),
    }
}

impl MemoryStore {
    /// Bytes that segments have room for, and bodies kept apart.
    fn segment_bytes(&self) -> (usize, usize) {
        self.0.segment_bytes()
    }
}

fn refused(answer: Result<Verdict, StoreError>) -> StoreError {
    answer.expect_err("the store should have refused")
}

//! Keys in no order, and what a store is asked and told about them.

use std::time::Duration;

use idem::machine::{Claim, Completion, OnLapse, Verdict};
use idem::{Body, Fingerprint, Namespace, RecordId, Token};

const KEEP: Duration = Duration::from_hours(45 * 24);

/// A ready key, as each side takes it.
#[derive(Clone, Debug)]
pub struct Key {
    /// As text, for what is written by hand.
    pub text: String,
    /// As a record, for a store.
    pub record: RecordId,
}

/// Keys of 40 bytes in no order, as ids from a queue are; no two of one program are equal.
pub fn keys(round: usize, count: usize) -> Vec<Key> {
    let space = Namespace::new("", "", "bench");
    (0..count)
        .map(|n| {
            let mut x = (round * 10_000_019 + n) as u64;
            let mut word = || {
                x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z ^ (z >> 27)
            };
            let text = format!("msg:{:016x}-{:016x}-00", word(), word());
            Key { record: space.record(&text), text }
        })
        .collect()
}

/// The claim of a new attempt, with the defaults of a handler.
pub fn claim(id: RecordId) -> Claim {
    Claim {
        id,
        token: Token::fresh(),
        fingerprint: Some(Fingerprint::from_bytes([7; 16])),
        lease: Duration::from_secs(30),
        keep: KEEP,
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

/// The success of the attempt that `claim` asked for.
pub fn completion(claim: &Claim, fence: u64, result: &[u8]) -> Completion {
    Completion {
        id: claim.id,
        token: claim.token,
        fence,
        fingerprint: claim.fingerprint,
        body: Body::copy_from(result),
        ttl: Duration::from_hours(7 * 24),
        keep: KEEP,
    }
}

/// The fence of a grant.
///
/// # Panics
/// If it is none.
pub fn fence(verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Claimed(grant) => grant.fence,
        other => panic!("a message that is new: {other:?}"),
    }
}

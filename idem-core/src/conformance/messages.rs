//! What the attempts of a check send.

use std::time::Duration;

use crate::machine::{Claim, Completion, OnLapse};
use crate::{Body, Fingerprint, RecordId, Token};

pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const DAY: Duration = Duration::from_secs(86_400);

/// The payload of a message that a check makes.
pub(super) const PAYLOAD: Option<Fingerprint> = Some(Fingerprint::from_bytes(*b"the payload sent"));
/// Another payload under the same key.
pub(super) const OTHER_PAYLOAD: Option<Fingerprint> = Some(Fingerprint::from_bytes(*b"another payload!"));

/// A key that nobody has used.
pub(super) fn fresh_id() -> RecordId {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(Token::fresh().as_bytes());
    bytes[16..].copy_from_slice(Token::fresh().as_bytes());
    RecordId::from_bytes(bytes)
}

/// The first attempt at a new message.
pub(super) fn message() -> Claim {
    message_of(fresh_id())
}

/// The first attempt at the message with this key: a lease of a minute, kept for a day, five tries.
pub(super) fn message_of(id: RecordId) -> Claim {
    Claim {
        id,
        token: Token::fresh(),
        fingerprint: PAYLOAD,
        lease: MINUTE,
        keep: DAY,
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

/// A first attempt whose lease has ended as soon as it is granted.
pub(super) fn lapsing() -> Claim {
    Claim { lease: Duration::ZERO, ..message() }
}

/// The next delivery of the same message: another attempt, with the default lease.
pub(super) fn again(claim: &Claim) -> Claim {
    Claim { token: Token::fresh(), lease: MINUTE, ..claim.clone() }
}

/// The end of an attempt: the body is replayed for an hour, the record kept for a day.
pub(super) fn ending(claim: &Claim, fence: u64, body: &[u8]) -> Completion {
    Completion {
        id: claim.id,
        token: claim.token,
        fence,
        fingerprint: claim.fingerprint,
        body: Body::copy_from(body),
        ttl: 60 * MINUTE,
        keep: DAY,
    }
}

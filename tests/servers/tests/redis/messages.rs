//! What attempts send.

use std::time::{Duration, Instant};

use idem::machine::{Claim, Completion, End, Ended, Grant, OnLapse, Recorded, Verdict};
use idem::{Body, Fingerprint, RecordId, Reply, Store, StoreError, StoreErrorKind, Token};

use crate::place::RUNTIME;

pub(crate) const MINUTE: Duration = Duration::from_mins(1);
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// The first attempt at a new message.
pub(crate) fn message() -> Claim {
    let mut id = [0; 32];
    id[..16].copy_from_slice(Token::fresh().as_bytes());
    id[16..].copy_from_slice(Token::fresh().as_bytes());
    Claim {
        id: RecordId::from_bytes(id),
        token: Token::fresh(),
        fingerprint: Some(Fingerprint::from_bytes([7; 16])),
        lease: MINUTE,
        keep: DAY,
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

/// The same, whose lease has ended as soon as it is granted.
pub(crate) fn lapsing() -> Claim {
    Claim { lease: Duration::ZERO, ..message() }
}

/// A message whose record is in the slot of the tag.
pub(crate) fn tagged(tag: u8) -> Claim {
    let claim = message();
    let mut id = *claim.id.as_bytes();
    id[..3].copy_from_slice(&[b'{', tag, b'}']);
    Claim { id: RecordId::from_bytes(id), ..claim }
}

/// The next delivery of the same message.
pub(crate) fn again(claim: &Claim) -> Claim {
    Claim { token: Token::fresh(), lease: MINUTE, ..claim.clone() }
}

/// The end of an attempt.
pub(crate) fn ending(claim: &Claim, fence: u64, body: &[u8]) -> Completion {
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

/// Records many successes in one round trip.
pub(crate) fn complete_many(store: &dyn Store, completions: &[Completion]) -> Reply<Vec<Recorded>> {
    let ends: Vec<_> = completions.iter().cloned().map(End::Complete).collect();
    store.end_many(&ends).map(|answers| {
        let recorded = answers.into_iter().map(|answer| match answer {
            Ended::Recorded(recorded) => recorded,
            other @ Ended::Released(_) => panic!("the answer to a success: {other:?}"),
        });
        recorded.collect()
    })
}

/// Waits for a reply.
pub(crate) fn hear<T: Send + 'static>(reply: Reply<T>) -> Result<T, StoreError> {
    RUNTIME.block_on(reply)
}

/// Asks until there is an answer, as the driver does: with the same token.
pub(crate) fn at_last<T: Send + 'static>(ask: impl Fn() -> Reply<T>) -> T {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        match hear(ask()) {
            Ok(answer) => return answer,
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
                assert!(Instant::now() < deadline, "a minute went by: {error}");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Claims, and must be granted.
pub(crate) fn grant(store: &dyn Store, claim: &Claim) -> Grant {
    match hear(store.claim(claim)) {
        Ok(Verdict::Claimed(grant)) => grant,
        other => panic!("a grant: {other:?}"),
    }
}

/// Asserts what came, by a pattern.
macro_rules! came {
    ($found:expr, $pattern:pat $(if $guard:expr)? $(,)?) => {
        match $found {
            $pattern $(if $guard)? => {}
            other => panic!("expected {}: {other:?}", stringify!($pattern $(if $guard)?)),
        }
    };
}
pub(crate) use came;

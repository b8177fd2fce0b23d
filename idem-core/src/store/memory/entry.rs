//! A finished record as it goes into a segment, and its body as it comes out.

use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// A finished record on its way into a segment.
pub(super) struct Finished<'a> {
    pub(super) id: &'a RecordId,
    pub(super) token: Token,
    pub(super) fence: u64,
    pub(super) tries: u32,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) made_at: Timestamp,
    pub(super) done_at: Timestamp,
    /// How long its body is kept from `done_at` on, in microseconds.
    pub(super) ttl: u64,
    /// How long it is kept itself from `done_at` on, in microseconds; at least `ttl`.
    pub(super) keep: u64,
    pub(super) failed: bool,
    /// `None` once the body's time has passed.
    pub(super) body: Option<&'a Body>,
}

impl Finished<'_> {
    /// When it will be able to give memory back: at the end of its body if it has one, and else at its own.
    pub(super) fn due(&self) -> Timestamp {
        let has_body = self.body.is_some_and(|body| !body.is_empty());
        let life = if has_body { self.ttl } else { self.keep };
        Timestamp::from_micros(self.done_at.as_micros().saturating_add(life))
    }

    pub(super) fn end(&self) -> Timestamp {
        Timestamp::from_micros(self.done_at.as_micros().saturating_add(self.keep))
    }
}

/// Where a body is.
pub(super) enum Bytes<'a> {
    /// Its time has passed.
    Gone,
    InPlace(&'a [u8]),
    Apart(&'a Body),
}

impl Bytes<'_> {
    #[inline]
    pub(super) fn to_body(&self) -> Option<Body> {
        match self {
            Self::Gone => None,
            Self::InPlace(bytes) => Some(Body::copy_from(bytes)),
            Self::Apart(body) => Some(Body::clone(body)),
        }
    }
}

//! One message of a batch.

use std::fmt;

use serde::Serialize;

use crate::{Error, Fingerprint, Key};

/// A message of a batch, under its key; see [`Idempotent::run_batch`](crate::Idempotent::run_batch).
///
/// A pair of a key and a message is one too, and so is a pair of a `Result` of a key, as `key!` makes it: a message without a key
/// is answered with that error, and the others go on.
pub struct BatchEntry<M> {
    pub(crate) key: Result<Key, Error>,
    pub(crate) fingerprint: Option<Result<Fingerprint, Error>>,
    pub(crate) message: M,
}

impl<M> BatchEntry<M> {
    /// `message` under `key`.
    pub const fn new(key: Key, message: M) -> Self {
        Self { key: Ok(key), fingerprint: None, message }
    }

    /// What must be equal under one key; another payload is refused as [`Mismatch`](crate::ErrorKind::Mismatch). It takes the
    /// place of the payload that [`Idempotent::payload`](crate::Idempotent::payload) gives all messages.
    #[must_use]
    pub fn payload(mut self, payload: &(impl Serialize + ?Sized)) -> Self {
        self.fingerprint = Some(Fingerprint::of(payload));
        self
    }
}

impl<M> From<(Key, M)> for BatchEntry<M> {
    fn from((key, message): (Key, M)) -> Self {
        Self::new(key, message)
    }
}

impl<M> From<(Result<Key, Error>, M)> for BatchEntry<M> {
    fn from((key, message): (Result<Key, Error>, M)) -> Self {
        Self { key, fingerprint: None, message }
    }
}

impl<M> fmt::Debug for BatchEntry<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchEntry").field("key", &self.key).finish_non_exhaustive()
    }
}

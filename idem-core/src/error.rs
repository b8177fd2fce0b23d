//! What can go wrong, and what a consumer should do about it.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::RecordId;

/// Why a handler's body did not run, or why its result could not be handed back.
///
/// An error of the handler itself is never one of these: it comes back as it is. Ask [`disposition`](Error::disposition)
/// what to tell the queue, and [`kind`](Error::kind) to tell errors apart.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    scope: Option<&'static str>,
    record: Option<RecordId>,
    retry_after: Option<Duration>,
    source: Option<StoreError>,
}

/// The kinds of [`Error`]: meanings that a caller can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another attempt holds the message now. It may still fail: do not acknowledge this delivery.
    InProgress,
    /// The key is known with another payload: two different messages have one key.
    Mismatch,
    /// A former attempt recorded no success, and this handler does not rerun such messages by itself (`on_lapse = "park"`).
    Lapsed,
    /// The message was tried as often as `max_tries` allows.
    Spent,
    /// At most once: a former attempt recorded no success (it was killed, or its body returned an error), and is not
    /// repeated. The message counts as handled, and may be lost.
    Lost,
    /// A former attempt was refused by an error worth remembering, which cannot be read back.
    Refused,
    /// The work is done, but its stored result cannot be read back as this handler's result.
    Unreadable,
    /// The work is done, but its result was not kept (too large, not serializable, older than `ttl`).
    NotKept,
    /// A part of the key is missing: `None`, a nil id, a text that is empty or stands for nothing (`null`; see [`KeyPart`](crate::KeyPart)).
    MissingKeyPart,
    /// The key's text is longer than 255 bytes, or not printable.
    InvalidKey,
    /// The payload could not be read to compare it with the first one: its `Serialize` failed.
    InvalidPayload,
    /// No store was installed.
    NoStore,
    /// The store did not answer. Whether a claim was granted is unknown; nothing ran.
    Unavailable,
    /// The store is full of live claims, or its disk is.
    Full,
    /// The store cannot be used as it is: damaged, read-only, made by another program, or too weak for this handler.
    Misconfigured,
}

/// What to tell the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Acknowledge: the message is handled, as far as anybody can know.
    Ack,
    /// Do not acknowledge; have it delivered again after this time.
    RetryAfter(Duration),
    /// Put it aside for a person, with this reason; delivering it again would change nothing.
    Park(String),
}

impl Error {
    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// How long to wait before the next delivery, where waiting helps.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The handler's scope, once known.
    pub fn scope(&self) -> Option<&str> {
        self.0.scope
    }

    /// The record's identity, once known. Its `Debug` form is what logs should show.
    pub fn record(&self) -> Option<RecordId> {
        self.0.record
    }

    /// What a consumer should tell its queue.
    ///
    /// ```
    /// # extern crate idem_core as idem;
    /// use idem::{Disposition, ErrorKind};
    ///
    /// fn settle(error: &idem::Error) {
    ///     match error.disposition() {
    ///         Disposition::Ack => { /* delivery.ack() */ }
    ///         Disposition::RetryAfter(_delay) => { /* delivery.nack(), delayed where the broker can */ }
    ///         Disposition::Park(_reason) => { /* to the dead letter queue, with the reason in a header */ }
    ///     }
    /// }
    /// ```
    pub fn disposition(&self) -> Disposition {
        match self.0.kind {
            ErrorKind::Lost | ErrorKind::Unreadable | ErrorKind::NotKept => Disposition::Ack,
            ErrorKind::Mismatch
            | ErrorKind::Lapsed
            | ErrorKind::Spent
            | ErrorKind::Refused
            | ErrorKind::MissingKeyPart
            | ErrorKind::InvalidKey
            | ErrorKind::InvalidPayload => Disposition::Park(self.to_string()),
            ErrorKind::InProgress
            | ErrorKind::NoStore
            | ErrorKind::Unavailable
            | ErrorKind::Full
            | ErrorKind::Misconfigured => Disposition::RetryAfter(self.0.retry_after.unwrap_or(PAUSE)),
        }
    }

    /// Whether the work is known, or must be taken, to be done already.
    pub fn is_done(&self) -> bool {
        self.disposition() == Disposition::Ack
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let inner = Inner {
            kind,
            message: message.into(),
            scope: None,
            record: None,
            retry_after: None,
            source: None,
        };
        Self(Box::new(inner))
    }

    pub(crate) fn retry_in(mut self, delay: Duration) -> Self {
        self.0.retry_after = Some(delay);
        self
    }

    pub(crate) fn within(mut self, scope: &'static str) -> Self {
        self.0.scope.get_or_insert(scope);
        self
    }

    pub(crate) fn about(mut self, record: RecordId) -> Self {
        self.0.record.get_or_insert(record);
        self
    }

    pub(crate) fn missing_key_part(part: &'static str) -> Self {
        Self::new(ErrorKind::MissingKeyPart, format!("`{part}` is missing, so the message has no key"))
    }

    pub(crate) fn key_too_long(part: &'static str, len: usize) -> Self {
        let message =
            format!("with `{part}` the key is {len} bytes long; it may be at most {}", crate::Key::MAX_LEN);
        Self::new(ErrorKind::InvalidKey, message)
    }

    pub(crate) fn payload_not_readable(why: &dyn fmt::Display) -> Self {
        Self::new(ErrorKind::InvalidPayload, format!("the payload cannot be fingerprinted: {why}"))
    }

    pub(crate) fn key_not_printable() -> Self {
        Self::new(ErrorKind::InvalidKey, "a key is printable ASCII without spaces")
    }
}

/// How long a consumer should pause when a store or a set-up is at fault.
const PAUSE: Duration = Duration::from_secs(5);

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Unavailable => ErrorKind::Unavailable,
            StoreErrorKind::Full => ErrorKind::Full,
            StoreErrorKind::Corrupt
            | StoreErrorKind::Foreign
            | StoreErrorKind::ReadOnly
            | StoreErrorKind::Misconfigured => ErrorKind::Misconfigured,
        };
        let mut this = Self::new(kind, "the store did not take part").retry_in(PAUSE);
        this.0.source = Some(error);
        this
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scope) = self.0.scope {
            write!(f, "{scope}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        if let Some(record) = self.0.record {
            write!(f, " (record {record:?})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("scope", &self.0.scope)
            .field("record", &self.0.record)
            .field("retry_after", &self.0.retry_after)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // The store's own text is part of ours, so a printer of whole chains goes on with the cause below it.
        self.0.source.as_ref().and_then(StdError::source)
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::InProgress => std::io::ErrorKind::WouldBlock,
            ErrorKind::MissingKeyPart
            | ErrorKind::InvalidKey
            | ErrorKind::InvalidPayload
            | ErrorKind::Mismatch => std::io::ErrorKind::InvalidData,
            _ => std::io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// Why a store could not do what it was asked for. The message names the store and its place, never a password.
#[derive(Clone)]
pub struct StoreError(Box<StoreFault>);

#[derive(Clone)]
struct StoreFault {
    kind: StoreErrorKind,
    message: String,
    source: Option<std::sync::Arc<dyn StdError + Send + Sync>>,
}

/// The kinds of [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// It did not answer in time, is locked, or went away. Whether the operation was applied is unknown: send it again with the
    /// same token.
    Unavailable,
    /// No room: full of live claims, or the disk is full. Nothing was changed.
    Full,
    /// What it holds is damaged.
    Corrupt,
    /// What it was pointed at belongs to something else, or to a newer version. Nothing was changed.
    Foreign,
    /// It can be read but not written.
    ReadOnly,
    /// It was set up in a way that it cannot work in.
    Misconfigured,
}

impl StoreError {
    /// Makes an error of `kind`; the message says which store, where it is, and what it could not do.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(StoreFault { kind, message: message.into(), source: None }))
    }

    /// Adds the driver's or the system's own error as the cause.
    #[must_use]
    pub fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(std::sync::Arc::new(source));
        self
    }

    /// The kind.
    pub fn kind(&self) -> StoreErrorKind {
        self.0.kind
    }

    /// Whether sending the same operation again can help.
    pub fn is_transient(&self) -> bool {
        self.0.kind == StoreErrorKind::Unavailable
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("StoreError");
        debug.field("kind", &self.0.kind).field("message", &self.0.message);
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish()
    }
}

impl StdError for StoreError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

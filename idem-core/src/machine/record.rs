//! What a store keeps.

use crate::machine::Prior;
use crate::{Body, Fingerprint, Timestamp, Token};

/// What a store keeps for one key.
///
/// There is no "expired" state: it is computed from the clock at every look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What is known of the work.
    pub state: State,
    /// The attempt that wrote last.
    pub token: Token,
    /// The order of grants for this key: `max(previous + 1, store clock in microseconds)`.
    pub fence: u64,
    /// Grants so far, in this incarnation.
    pub tries: u32,
    /// The payload that the key stands for.
    pub fingerprint: Option<Fingerprint>,
    /// The first grant of this incarnation.
    pub made_at: Timestamp,
    /// When the record ends.
    pub drop_at: Timestamp,
}

/// The state of a record. A Held record without the end of its lease cannot be written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Released: nobody holds it, nothing is done.
    Open,
    /// An attempt holds it until `lease_at`, and after that until another takes over.
    Held {
        /// The end of the lease.
        lease_at: Timestamp,
        /// How the attempt before this one ended, so that a claim sent again gets the same answer.
        prior: Prior,
    },
    /// The work is done.
    Done(Kept),
    /// The work was refused by an error worth remembering.
    Failed(Kept),
}

/// A result that is kept for a while; its record may outlive it as a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// When it was recorded.
    pub done_at: Timestamp,
    /// When the bytes go, and the tombstone stays.
    pub body_until: Timestamp,
    /// The bytes.
    pub body: Body,
}

/// The name of a state, for verdicts and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateKind {
    /// Released.
    Open,
    /// Held by an attempt.
    Held,
    /// Done.
    Done,
    /// Refused by an error worth remembering.
    Failed,
}

impl State {
    /// Its name.
    pub const fn kind(&self) -> StateKind {
        match self {
            Self::Open => StateKind::Open,
            Self::Held { .. } => StateKind::Held,
            Self::Done(_) => StateKind::Done,
            Self::Failed(_) => StateKind::Failed,
        }
    }
}

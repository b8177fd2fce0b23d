//! What a store is asked.

use std::time::Duration;

use crate::{Body, Fingerprint, RecordId, Token};

/// What happens to a message whose holder fell silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnLapse {
    /// The next delivery runs it again: the queue's own promise.
    #[default]
    Rerun,
    /// It waits for a person: for effects that must not happen twice and cannot be asked about. An error of the body may have come after
    /// the effect, so it does not give the claim back either: once the lease is over, the message is parked.
    Park,
}

/// A request to run a message.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The record.
    pub id: RecordId,
    /// This attempt.
    pub token: Token,
    /// The payload, if it is checked.
    pub fingerprint: Option<Fingerprint>,
    /// How long the attempt owns the record without a renewal.
    pub lease: Duration,
    /// How long the record lives if nothing else happens to it; at least as long as its lease.
    pub keep: Duration,
    /// What to do with a lapsed holder.
    pub on_lapse: OnLapse,
    /// Grants before the message is spent.
    pub max_tries: u32,
    /// Whether the grant must survive power loss before the body runs. A lapsed holder that waits for a person implies it: see
    /// [`must_survive`](Claim::must_survive).
    pub durable: bool,
}

impl Claim {
    /// Whether a store may answer only once the grant survives power loss, where it survives that at all.
    ///
    /// A lost grant means what a lapse means, so only a handler that does not rerun lapsed messages has to wait for the disk.
    pub const fn must_survive(&self) -> bool {
        self.durable || matches!(self.on_lapse, OnLapse::Park)
    }
}

/// A request to go on owning a record.
#[derive(Clone, Debug)]
pub struct Renewal {
    /// The record.
    pub id: RecordId,
    /// The attempt that holds it.
    pub token: Token,
    /// The new lease, from the store's now on.
    pub lease: Duration,
}

/// The end of an attempt: success, or an error worth remembering.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The record.
    pub id: RecordId,
    /// The attempt that holds it.
    pub token: Token,
    /// Its fence, for the case that the record is gone.
    pub fence: u64,
    /// Its payload, for the case that the record is gone.
    pub fingerprint: Option<Fingerprint>,
    /// The encoded result.
    pub body: Body,
    /// How long the result is replayed.
    pub ttl: Duration,
    /// How long the record says that the work is done; at least `ttl`.
    pub keep: Duration,
}

/// How an attempt ends.
#[derive(Clone, Debug)]
pub enum End {
    /// With a success.
    Complete(Completion),
    /// With an error worth remembering.
    Fail(Completion),
    /// It gives the record back without a result.
    Release {
        /// The record.
        id: RecordId,
        /// The attempt that holds it.
        token: Token,
    },
}

impl End {
    /// The record.
    pub const fn id(&self) -> &RecordId {
        match self {
            Self::Complete(Completion { id, .. })
            | Self::Fail(Completion { id, .. })
            | Self::Release { id, .. } => id,
        }
    }

    /// The attempt.
    pub const fn token(&self) -> &Token {
        match self {
            Self::Complete(Completion { token, .. })
            | Self::Fail(Completion { token, .. })
            | Self::Release { token, .. } => token,
        }
    }

    /// What there is to record; nothing of a release.
    pub const fn completion(&self) -> Option<&Completion> {
        match self {
            Self::Complete(completion) | Self::Fail(completion) => Some(completion),
            Self::Release { .. } => None,
        }
    }

    /// The same, as an operation on its record.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Complete(completion) => Operation::Complete(completion.clone()),
            Self::Fail(completion) => Operation::Fail(completion.clone()),
            Self::Release { token, .. } => Operation::Release(*token),
        }
    }
}

/// An operation on one record.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Ask to run.
    Claim(Claim),
    /// Go on owning.
    Renew(Renewal),
    /// Record success.
    Complete(Completion),
    /// Record an error worth remembering.
    Fail(Completion),
    /// Give back without a result, so that the next delivery runs at once.
    Release(Token),
    /// Delete, on an operator's word; a live claim only with `force`.
    Forget {
        /// Delete a live claim too.
        force: bool,
    },
    /// Look, and change nothing.
    Inspect,
}

//! What a store answers, and what it writes.

use std::time::Duration;

use crate::machine::{Record, StateKind};
use crate::{Body, Fingerprint};

/// The answer to a claim. "The store did not answer" is an error and never one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "each verdict needs another answer to the queue; treating two alike loses or repeats messages"]
pub enum Verdict {
    /// Run: this attempt owns the record.
    Claimed(Grant),
    /// Done before; replay.
    Completed {
        /// The stored bytes, unless their time has passed.
        body: Option<Body>,
        /// How long ago it was recorded.
        age: Duration,
        /// For how long this answer stays true, unless somebody forgets the record: until the bytes go or, where there are none,
        /// until the record ends. Zero if that is not known. A cache in front of the store lives by it.
        valid_for: Duration,
        /// Whether a seen set answered, without asking the store.
        skipped: bool,
    },
    /// Refused before, by an error worth remembering.
    Refused {
        /// The stored bytes, unless their time has passed.
        body: Option<Body>,
        /// How long ago it was recorded.
        age: Duration,
    },
    /// Another attempt holds it.
    InProgress {
        /// What is left of its lease.
        remaining: Duration,
        /// Grants so far.
        tries: u32,
    },
    /// The key is known with another payload.
    Mismatch {
        /// The state of the record with the other payload.
        state: StateKind,
    },
    /// The last holder fell silent, and the message is not to be rerun.
    Lapsed {
        /// Grants so far.
        tries: u32,
        /// How long ago the first attempt began.
        first_age: Duration,
    },
    /// Tried too often.
    Spent {
        /// Grants so far.
        tries: u32,
        /// How long ago the first attempt began.
        first_age: Duration,
    },
}

/// The right to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The order of this grant among all for the key; a downstream can refuse older ones.
    pub fence: u64,
    /// Which grant of this incarnation it is, from 1.
    pub tries: u32,
    /// How long ago the first attempt began.
    pub first_age: Duration,
    /// How the attempt before this one ended.
    pub prior: Prior,
    /// Whether this attempt had been granted already, and sent its claim again.
    pub resumed: bool,
}

/// How the attempt before this one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prior {
    /// There was none.
    None,
    /// It gave the record back: its body returned an error or panicked.
    Released,
    /// It fell silent: its effects may or may not have happened.
    Lapsed,
}

/// The answer to a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The lease runs for this long again.
    Renewed {
        /// The lease.
        remaining: Duration,
    },
    /// The record is no longer this attempt's: another took over, it is done, or it is gone (`None`).
    Lost(Option<StateKind>),
}

/// The answer to a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The record says so now.
    Stored,
    /// The record was gone, and was made anew: success is worth keeping.
    Recreated,
    /// Another attempt took over before; nothing was changed. The effect has probably happened twice.
    Superseded {
        /// The state that the record is in.
        state: StateKind,
        /// The newer fence.
        fence: u64,
    },
    /// The record is gone, and an error does not make it anew.
    Gone,
}

/// The answer to a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The next delivery runs at once.
    Released {
        /// Grants so far; they go on counting.
        tries: u32,
    },
    /// The record is not this attempt's; nothing was changed.
    Superseded,
}

/// The answer to an attempt's end, of the end's own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// To a success, or to an error worth remembering.
    Recorded(Recorded),
    /// To a release.
    Released(Released),
}

impl Ended {
    /// The same, of what a store answered to an [`End`](crate::machine::End); `None` of anything else.
    #[allow(clippy::needless_pass_by_value, reason = "all that read an answer have one shape")]
    pub fn of(answer: Answer) -> Option<Self> {
        match answer {
            Answer::Record(recorded) => Some(Self::Recorded(recorded)),
            Answer::Release(released) => Some(Self::Released(released)),
            _ => None,
        }
    }
}

impl From<Ended> for Answer {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Recorded(recorded) => Self::Record(recorded),
            Ended::Released(released) => Self::Release(released),
        }
    }
}

/// The answer to an operator's deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// It is gone; this is what it was.
    Forgotten(Snapshot),
    /// A live claim, and no `force`.
    StillHeld {
        /// What is left of its lease.
        remaining: Duration,
    },
    /// There was none; or one that was damaged, of which nothing can be said but that it is gone.
    Absent,
}

/// A record as an operator sees it, with times as distances from the store's now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its state.
    pub state: StateKind,
    /// The last fence.
    pub fence: u64,
    /// Grants so far.
    pub tries: u32,
    /// How long ago the first attempt began.
    pub first_age: Duration,
    /// What is left of the lease; zero if it lapsed, `None` if nobody holds the record.
    pub lease: Option<Duration>,
    /// How long ago the result was recorded.
    pub done_age: Option<Duration>,
    /// The stored bytes, unless their time has passed.
    pub body: Option<Body>,
    /// The payload that the key stands for.
    pub fingerprint: Option<Fingerprint>,
    /// When the record ends.
    pub ends_in: Duration,
}

/// What a store answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To a claim.
    Claim(Verdict),
    /// To a renewal.
    Renew(Renewed),
    /// To a completion or a failure.
    Record(Recorded),
    /// To a release.
    Release(Released),
    /// To a deletion.
    Forget(Forgotten),
    /// To a look.
    Inspect(Option<Snapshot>),
}

/// What a store writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// This record, in place of what was there.
    Put(Record),
    /// The record's end.
    Remove,
}

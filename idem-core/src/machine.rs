//! The protocol: what an operation on a record answers and changes, as a pure function.
//!
//! No clock, no store, no await. Every store must answer as [`decide`] does; `MemoryStore` and the tests of all others are
//! built on it. The table is in the order in which a claim is judged:
//!
//! | record seen | verdict | change |
//! | --- | --- | --- |
//! | absent, or `drop_at <= now` | Claimed, tries 1 | Held, a new incarnation |
//! | Held, Done or Failed, and the fingerprint differs | Mismatch | none |
//! | Done | Completed | none |
//! | Failed | Refused | none |
//! | Held by the same token | Claimed, same fence and tries, resumed | lease extended |
//! | Held by another, `now < lease_at` | `InProgress` | none |
//! | Held or Open, `tries >= max_tries` | Spent | none |
//! | Held by another, lapsed, `on_lapse` is `Rerun` | Claimed, higher fence, tries + 1, prior Lapsed | Held by the new token |
//! | Held by another, lapsed, `on_lapse` is `Park` | Lapsed | none |
//! | Open | Claimed, higher fence, tries + 1, prior Released | Held, new fingerprint |
//!
//! Ends are exclusive: at `lease_at` a lease has lapsed, at `drop_at` a record is gone, at `body_until` a result is.
//! A record never ends before its lease: a short `keep` is stretched by the lease, at the grant and at each renewal.
//! Completion checks ownership and not the lease's clock: if nobody took over, the work happened and is worth recording.

use std::time::Duration;

use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

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

/// What happens to a message whose holder fell silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnLapse {
    /// The next delivery runs it again: the queue's own promise.
    #[default]
    Rerun,
    /// It waits for a person: for effects that must not happen twice and cannot be asked about.
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
    /// There was none.
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

/// Judges `operation` on the record found, at the store's `now`.
///
/// A record past its `drop_at` counts as absent, whether or not the store has deleted it.
pub fn decide(found: Option<&Record>, operation: &Operation, now: Timestamp) -> (Answer, Change) {
    let live = found.filter(|record| now < record.drop_at);
    match operation {
        Operation::Claim(claim) => {
            let (verdict, change) = decide_claim(found, claim, now);
            (Answer::Claim(verdict), change)
        }
        Operation::Renew(renewal) => {
            let (renewed, change) = decide_renewal(live, renewal, now);
            (Answer::Renew(renewed), change)
        }
        Operation::Complete(completion) => {
            let (recorded, change) = decide_completion(live, completion, Ending::Success, now);
            (Answer::Record(recorded), change)
        }
        Operation::Fail(completion) => {
            let (recorded, change) = decide_completion(live, completion, Ending::Error, now);
            (Answer::Record(recorded), change)
        }
        Operation::Release(token) => {
            let (released, change) = decide_release(live, *token);
            (Answer::Release(released), change)
        }
        Operation::Forget { force } => {
            let (forgotten, change) = decide_forget(live, *force, now);
            (Answer::Forget(forgotten), change)
        }
        Operation::Inspect => (Answer::Inspect(live.map(|record| snapshot(record, now))), Change::None),
    }
}

fn decide_claim(found: Option<&Record>, claim: &Claim, now: Timestamp) -> (Verdict, Change) {
    let Some(record) = found.filter(|record| now < record.drop_at) else {
        // The fence grows past a dead record that is still there; past a deleted one it grows with the clock.
        let fence = next_fence(found.map(|record| record.fence), now);
        return grant(claim, now, fence, 1, now, Prior::None);
    };
    let first_age = now.since(record.made_at);
    let tries = record.tries;
    if !matches!(record.state, State::Open) && record.fingerprint != claim.fingerprint {
        return (Verdict::Mismatch { state: record.state.kind() }, Change::None);
    }
    let prior = match &record.state {
        State::Done(kept) => {
            let body = body_at(kept, now);
            let end = if body.is_some() { kept.body_until } else { record.drop_at };
            let (age, valid_for) = (now.since(kept.done_at), end.since(now));
            return (Verdict::Completed { body, age, valid_for, skipped: false }, Change::None);
        }
        State::Failed(kept) => {
            let verdict = Verdict::Refused { body: body_at(kept, now), age: now.since(kept.done_at) };
            return (verdict, Change::None);
        }
        State::Held { prior, .. } if record.token == claim.token => {
            return resume(record, *prior, claim, now);
        }
        State::Held { lease_at, .. } if now < *lease_at => {
            return (Verdict::InProgress { remaining: lease_at.since(now), tries }, Change::None);
        }
        State::Held { .. } => Prior::Lapsed,
        State::Open => Prior::Released,
    };
    if tries >= claim.max_tries {
        return (Verdict::Spent { tries, first_age }, Change::None);
    }
    if prior == Prior::Lapsed && claim.on_lapse == OnLapse::Park {
        return (Verdict::Lapsed { tries, first_age }, Change::None);
    }
    let fence = next_fence(Some(record.fence), now);
    grant(claim, now, fence, tries.saturating_add(1), record.made_at, prior)
}

/// The grant of a fresh attempt, as the first of an incarnation or as a takeover.
fn grant(
    claim: &Claim,
    now: Timestamp,
    fence: u64,
    tries: u32,
    made_at: Timestamp,
    prior: Prior,
) -> (Verdict, Change) {
    let granted = Grant { fence, tries, first_age: now.since(made_at), prior, resumed: false };
    let record = Record {
        state: State::Held { lease_at: now.after(claim.lease), prior },
        token: claim.token,
        fence,
        tries,
        fingerprint: claim.fingerprint,
        made_at,
        // A record that ended before its lease would be free while it is held.
        drop_at: now.after(claim.keep.max(claim.lease)),
    };
    (Verdict::Claimed(granted), Change::Put(record))
}

/// The same attempt asks again, because it did not see the answer.
fn resume(record: &Record, prior: Prior, claim: &Claim, now: Timestamp) -> (Verdict, Change) {
    let granted = Grant {
        fence: record.fence,
        tries: record.tries,
        first_age: now.since(record.made_at),
        prior,
        resumed: true,
    };
    let extended = Record {
        state: State::Held { lease_at: now.after(claim.lease), prior },
        drop_at: now.after(claim.keep.max(claim.lease)),
        ..record.clone()
    };
    (Verdict::Claimed(granted), Change::Put(extended))
}

fn decide_renewal(live: Option<&Record>, renewal: &Renewal, now: Timestamp) -> (Renewed, Change) {
    match live {
        Some(record @ Record { state: State::Held { prior, .. }, .. }) if record.token == renewal.token => {
            let lease_at = now.after(renewal.lease);
            let renewed = Record {
                state: State::Held { lease_at, prior: *prior },
                drop_at: record.drop_at.max(lease_at),
                ..record.clone()
            };
            (Renewed::Renewed { remaining: renewal.lease }, Change::Put(renewed))
        }
        other => (Renewed::Lost(other.map(|record| record.state.kind())), Change::None),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Success,
    Error,
}

fn decide_completion(
    live: Option<&Record>,
    completion: &Completion,
    ending: Ending,
    now: Timestamp,
) -> (Recorded, Change) {
    let kept = Kept { done_at: now, body_until: now.after(completion.ttl), body: completion.body.clone() };
    let state = match ending {
        Ending::Success => State::Done(kept),
        Ending::Error => State::Failed(kept),
    };
    let drop_at = now.after(completion.keep.max(completion.ttl));
    match live {
        None if ending == Ending::Success => {
            let record = Record {
                state,
                token: completion.token,
                fence: completion.fence,
                tries: 1,
                fingerprint: completion.fingerprint,
                made_at: now,
                drop_at,
            };
            (Recorded::Recreated, Change::Put(record))
        }
        None => (Recorded::Gone, Change::None),
        Some(record) if record.token == completion.token => match &record.state {
            State::Held { .. } => {
                (Recorded::Stored, Change::Put(Record { state, drop_at, ..record.clone() }))
            }
            written if written.kind() == state.kind() => (Recorded::Stored, Change::None),
            _ => (superseded(record), Change::None),
        },
        Some(record) => (superseded(record), Change::None),
    }
}

fn superseded(record: &Record) -> Recorded {
    Recorded::Superseded { state: record.state.kind(), fence: record.fence }
}

fn decide_release(live: Option<&Record>, token: Token) -> (Released, Change) {
    match live {
        Some(record) if record.token == token => match record.state {
            State::Held { .. } => {
                let open = Record { state: State::Open, ..record.clone() };
                (Released::Released { tries: record.tries }, Change::Put(open))
            }
            State::Open => (Released::Released { tries: record.tries }, Change::None),
            _ => (Released::Superseded, Change::None),
        },
        _ => (Released::Superseded, Change::None),
    }
}

fn decide_forget(live: Option<&Record>, force: bool, now: Timestamp) -> (Forgotten, Change) {
    let Some(record) = live else {
        return (Forgotten::Absent, Change::None);
    };
    match record.state {
        State::Held { lease_at, .. } if now < lease_at && !force => {
            (Forgotten::StillHeld { remaining: lease_at.since(now) }, Change::None)
        }
        _ => (Forgotten::Forgotten(snapshot(record, now)), Change::Remove),
    }
}

fn snapshot(record: &Record, now: Timestamp) -> Snapshot {
    let kept = match &record.state {
        State::Done(kept) | State::Failed(kept) => Some(kept),
        State::Open | State::Held { .. } => None,
    };
    Snapshot {
        state: record.state.kind(),
        fence: record.fence,
        tries: record.tries,
        first_age: now.since(record.made_at),
        lease: match record.state {
            State::Held { lease_at, .. } => Some(lease_at.since(now)),
            _ => None,
        },
        done_age: kept.map(|kept| now.since(kept.done_at)),
        body: kept.and_then(|kept| body_at(kept, now)),
        fingerprint: record.fingerprint,
        ends_in: record.drop_at.since(now),
    }
}

fn body_at(kept: &Kept, now: Timestamp) -> Option<Body> {
    (now < kept.body_until).then(|| kept.body.clone())
}

/// A hybrid of clock and counter: it grows even if the record was deleted in between, and needs no second key.
pub(crate) fn next_fence(previous: Option<u64>, now: Timestamp) -> u64 {
    previous.map_or(0, |fence| fence.saturating_add(1)).max(now.as_micros())
}

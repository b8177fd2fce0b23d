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

use crate::{Body, Timestamp, Token};

mod answer;
mod inbox;
mod record;
mod request;

pub use answer::{
    Answer, Change, Ended, Forgotten, Grant, Prior, Recorded, Released, Renewed, Snapshot, Verdict,
};
pub use inbox::{Entry, Settlement, enter, settle};
pub use record::{Kept, Record, State, StateKind};
pub use request::{Claim, Completion, End, OnLapse, Operation, Renewal};

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

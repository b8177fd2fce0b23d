//! The record that commits with the handler's own rows.
//!
//! In a transaction of the handler's own nobody needs a lease: until it commits, nobody else sees the record, and if it does not,
//! there is none. So the record says *done* from the start, as if a claim and its completion came at one instant; what a claim would
//! be refused for, an entry is refused for.

use std::time::Duration;

use super::{
    Change, Claim, Completion, Ending, Kept, OnLapse, Record, State, Verdict, decide_claim, decide_completion,
};
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// A request to run a message in the transaction that its record is written in.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The record.
    pub id: RecordId,
    /// This attempt.
    pub token: Token,
    /// The payload, if it is checked.
    pub fingerprint: Option<Fingerprint>,
    /// What the record holds until its end is settled: the result, if the handler can have only one.
    pub body: Body,
    /// How long the result is replayed.
    pub ttl: Duration,
    /// How long the record says that the work is done; at least `ttl`.
    pub keep: Duration,
}

/// How a body ended whose record says *done* already.
#[derive(Clone, Debug)]
pub enum Settlement {
    /// With this result.
    Done(Body),
    /// With an error worth remembering.
    Failed {
        /// The encoded error.
        body: Body,
        /// How long it is replayed, and the record lives.
        ttl: Duration,
    },
    /// With any other error: nothing is to be remembered, even if the transaction commits.
    Withdrawn,
}

/// Judges an entry on the record found, at the store's `now`.
///
/// As [`decide`](super::decide) judges a claim: a record that another mode of the handler left Held and lapsed, or Open, is taken over.
/// Attempts are not counted, as one that is rolled back leaves nothing to count by: that is the broker's to do.
pub fn enter(found: Option<&Record>, entry: &Entry, now: Timestamp) -> (Verdict, Change) {
    let claim = Claim {
        id: entry.id,
        token: entry.token,
        fingerprint: entry.fingerprint,
        lease: Duration::ZERO,
        keep: entry.keep,
        on_lapse: OnLapse::Rerun,
        max_tries: u32::MAX,
        durable: false,
    };
    let (verdict, change) = decide_claim(found, &claim, now);
    let (Verdict::Claimed(grant), Change::Put(held)) = (&verdict, &change) else { return (verdict, change) };
    let completion = Completion {
        id: entry.id,
        token: entry.token,
        fence: grant.fence,
        fingerprint: entry.fingerprint,
        body: entry.body.clone(),
        ttl: entry.ttl,
        keep: entry.keep,
    };
    let (_, done) = decide_completion(Some(held), &completion, Ending::Success, now);
    (verdict, done)
}

/// What becomes of the record that [`enter`] wrote, in the same transaction. `before` is the one that it was written over.
pub fn settle(entered: &Record, before: Option<&Record>, settlement: &Settlement, now: Timestamp) -> Change {
    let kept = |body: &Body, done_at, body_until| Kept { done_at, body_until, body: body.clone() };
    match (settlement, &entered.state) {
        (Settlement::Done(body), State::Done(first)) => {
            let state = State::Done(kept(body, first.done_at, first.body_until));
            Change::Put(Record { state, ..entered.clone() })
        }
        (Settlement::Failed { body, ttl }, _) => {
            let end = now.after(*ttl);
            Change::Put(Record {
                state: State::Failed(kept(body, now, end)),
                drop_at: end,
                ..entered.clone()
            })
        }
        (Settlement::Withdrawn, _) => before.map_or(Change::Remove, |before| Change::Put(before.clone())),
        // Nobody but `enter` makes such records, and it makes them Done.
        (Settlement::Done(_), _) => Change::None,
    }
}

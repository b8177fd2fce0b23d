//! One shard: an index over unfinished and finished records, and the protocol on it.
//!
//! Three everyday steps (a first claim, its completion, a replay) are written out, so that no `Record` is built for them. All
//! others load the record, ask [`decide`], and write what it says. A property test holds both to `decide`.

use std::time::Duration;

use super::claims::{Claims, Hold, Unfinished};
use super::entry::Finished;
use super::finished::{Address, FinishedRecords};
use super::index::{At, Index, Place};
use super::limits::Limits;
use crate::machine::{
    Answer, Change, Claim, Completion, Grant, Operation, Prior, Record, Recorded, State, Verdict, decide,
};
use crate::store::Reply;
use crate::{RecordId, StoreError, Timestamp, Token};

/// Records that a step looks at for others' sake, besides its own.
const TIDY_STEP: usize = 4;

pub(super) struct Shard {
    pub(super) index: Index,
    pub(super) claims: Claims,
    pub(super) finished: FinishedRecords,
    pub(super) limits: Limits,
    /// Fences of a shard grow over all its records, so that they do across the deletion of any.
    last_fence: u64,
    /// No finished record gives memory back before this.
    pub(super) next_due: Timestamp,
    pub(super) evicted: u64,
    pub(super) refused: u64,
}

impl Shard {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            index: Index::default(),
            claims: Claims::new(),
            finished: FinishedRecords::default(),
            limits,
            last_fence: 0,
            next_due: Timestamp::MAX,
            evicted: 0,
            refused: 0,
        }
    }

    /// Where the record of `id` is.
    #[inline]
    pub(super) fn find(&self, id: &RecordId) -> Option<Place> {
        self.index.find(id, |place| match place.at() {
            At::Finished(address) => self.finished.holds(address, id),
            At::Claim(slot) => self.claims.get(slot).is_some_and(|claim| claim.id == *id),
        })
    }

    /// The answer to a claim whose record was found at `place`. Each arm makes its own where it is returned.
    #[inline]
    pub(super) fn claim(&mut self, claim: &Claim, place: Option<Place>, now: Timestamp) -> Reply<Verdict> {
        match place.map(Place::at) {
            None => Reply::ready(self.grant_first(claim, now).map(Verdict::Claimed)),
            Some(At::Finished(address)) => {
                let found = self.finished.get(address);
                if found.answers(claim, now) {
                    return found.reply(now);
                }
                Reply::ready(self.judge(claim, now))
            }
            Some(At::Claim(_)) => Reply::ready(self.judge(claim, now)),
        }
    }

    /// Judges a claim that finds a record which does not simply answer it.
    #[cold]
    fn judge(&mut self, claim: &Claim, now: Timestamp) -> Result<Verdict, StoreError> {
        match self.apply(&claim.id, &Operation::Claim(claim.clone()), now)? {
            Answer::Claim(verdict) => Ok(verdict),
            other => unreachable!("a claim was answered with {other:?}"),
        }
    }

    /// The claim of a record that is not there.
    #[inline]
    fn grant_first(&mut self, claim: &Claim, now: Timestamp) -> Result<Grant, StoreError> {
        self.tidy(now);
        self.make_room(now)?;
        let fence = self.next_fence(now);
        let grant = Grant { fence, tries: 1, first_age: Duration::ZERO, prior: Prior::None, resumed: false };
        self.insert_claim(Unfinished {
            id: claim.id,
            token: claim.token,
            fence,
            tries: 1,
            fingerprint: claim.fingerprint,
            made_at: now,
            drop_at: now.after(claim.keep.max(claim.lease)),
            stale_at: self.limits.stale_at(now),
            hold: Hold::Held { lease_at: now.after(claim.lease), prior: Prior::None },
        });
        Ok(grant)
    }

    /// Records success, or an error worth remembering.
    #[inline]
    pub(super) fn complete(
        &mut self,
        completion: &Completion,
        failed: bool,
        now: Timestamp,
    ) -> Result<Recorded, StoreError> {
        self.tidy(now);
        let window = self.limits.window(completion);
        let place = self.find(&completion.id);
        if let Some(place) = place
            && let At::Claim(slot) = place.at()
            && let Some(held) = self.claims.get(slot)
            && held.token == completion.token
            && matches!(held.hold, Hold::Held { .. })
            && !held.is_over(now)
        {
            let record = Finished {
                id: &completion.id,
                token: held.token,
                fence: held.fence,
                tries: held.tries,
                fingerprint: held.fingerprint,
                made_at: held.made_at,
                done_at: now,
                ttl: window.ttl,
                keep: window.keep,
                failed,
                body: Some(&completion.body),
            };
            let address = self.append(&record);
            self.index.repoint(&completion.id, place, Place::finished(address));
            self.claims.remove(slot);
            return Ok(Recorded::Stored);
        }
        let completion = window.apply_to(completion);
        let id = completion.id;
        let operation = if failed { Operation::Fail(completion) } else { Operation::Complete(completion) };
        match self.apply(&id, &operation, now)? {
            Answer::Record(recorded) => Ok(recorded),
            other => unreachable!("a completion was answered with {other:?}"),
        }
    }

    /// Ends the lease of a body that is gone.
    pub(super) fn dropped(&mut self, id: &RecordId, token: &Token, now: Timestamp) {
        if let Some(At::Claim(slot)) = self.find(id).map(Place::at)
            && self.claims.get(slot).is_some_and(|held| held.token == *token)
        {
            self.claims.lapse(slot, now);
        }
    }

    /// Takes back a grant that its caller has not seen: a first one vanishes, a later one counts as given back.
    pub(super) fn take_back(&mut self, id: &RecordId, token: &Token) {
        let Some(place) = self.find(id) else { return };
        let At::Claim(slot) = place.at() else { return };
        match self.claims.get(slot) {
            Some(held) if held.token == *token && held.tries == 1 => self.remove(id, place),
            Some(held) if held.token == *token => self.claims.open(slot),
            _ => {}
        }
    }

    /// Does what [`decide`] says.
    pub(super) fn apply(
        &mut self,
        id: &RecordId,
        operation: &Operation,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        let place = self.find(id);
        let found = place.and_then(|place| match place.at() {
            At::Claim(slot) => self.claims.get(slot).map(|claim| claim.record(now)),
            At::Finished(address) => Some(self.finished.record(address)),
        });
        let (mut answer, mut change) = decide(found.as_ref(), operation, now);
        if let (Answer::Claim(Verdict::Claimed(grant)), Change::Put(record)) = (&mut answer, &mut change)
            && !grant.resumed
        {
            record.fence = self.next_fence(now);
            grant.fence = record.fence;
        }
        match (change, place) {
            (Change::Put(record), place) => self.put(id, place, &record, now)?,
            (Change::Remove, Some(place)) => self.remove(id, place),
            (Change::Remove, None) | (Change::None, _) => {}
        }
        Ok(answer)
    }

    fn put(
        &mut self,
        id: &RecordId,
        place: Option<Place>,
        record: &Record,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if place.is_none() {
            self.make_room(now)?;
        }
        let (hold, kept) = match &record.state {
            State::Open => (Hold::Open, None),
            State::Held { lease_at, prior } => (Hold::Held { lease_at: *lease_at, prior: *prior }, None),
            State::Done(kept) | State::Failed(kept) => (Hold::Open, Some(kept)),
        };
        if let Some(kept) = kept {
            // A success may bring a fence from before the record was lost.
            self.last_fence = self.last_fence.max(record.fence);
            let address = self.append(&Finished {
                id,
                token: record.token,
                fence: record.fence,
                tries: record.tries,
                fingerprint: record.fingerprint,
                made_at: record.made_at,
                done_at: kept.done_at,
                ttl: kept.body_until.as_micros() - kept.done_at.as_micros(),
                keep: record.drop_at.as_micros() - kept.done_at.as_micros(),
                failed: matches!(record.state, State::Failed(_)),
                body: Some(&kept.body),
            });
            // To append may have evicted others, but never an unfinished record, and a finished one only if it was over.
            if let Some(place) = place.filter(|place| self.index.knows(id, *place)) {
                self.remove(id, place);
            }
            self.index.insert(id, Place::finished(address));
            return Ok(());
        }
        let mut unfinished = Unfinished {
            id: *id,
            token: record.token,
            fence: record.fence,
            tries: record.tries,
            fingerprint: record.fingerprint,
            made_at: record.made_at,
            drop_at: record.drop_at,
            stale_at: self.limits.stale_at(now),
            hold,
        };
        match place.map(Place::at) {
            Some(At::Claim(slot)) => {
                if let Some(before) = self.claims.get(slot)
                    && before.fence == unfinished.fence
                {
                    unfinished.stale_at = before.stale_at;
                }
                self.claims.replace(slot, unfinished);
            }
            Some(At::Finished(address)) => {
                self.remove(id, Place::finished(address));
                self.insert_claim(unfinished);
            }
            None => self.insert_claim(unfinished),
        }
        Ok(())
    }

    #[inline]
    fn insert_claim(&mut self, claim: Unfinished) {
        if self.claims.is_crowded() {
            self.clear_or_grow(claim.made_at);
        }
        let id = claim.id;
        let slot = self.claims.insert(claim);
        self.index.insert(&id, Place::claim(slot));
    }

    #[cold]
    fn clear_or_grow(&mut self, now: Timestamp) {
        let before = self.claims.len();
        self.remove_over(now, usize::MAX);
        if before - self.claims.len() < before / 4 + 1 {
            self.claims.grow();
        }
    }

    /// Appends a finished record. If all addresses are taken, the oldest records go.
    fn append(&mut self, record: &Finished<'_>) -> Address {
        loop {
            if let Some(address) = self.finished.append(record) {
                self.next_due = self.next_due.min(record.due());
                return address;
            }
            self.evict_oldest(record.done_at);
        }
    }

    /// Removes the record of `id`, which is at `place`.
    pub(super) fn remove(&mut self, id: &RecordId, place: Place) {
        self.index.remove(id, place);
        match place.at() {
            At::Claim(slot) => self.claims.remove(slot),
            At::Finished(address) => self.finished.kill(address),
        }
    }

    #[inline]
    fn tidy(&mut self, now: Timestamp) {
        if self.next_due <= now {
            self.collect(now, TIDY_STEP);
        }
    }

    fn next_fence(&mut self, now: Timestamp) -> u64 {
        self.last_fence = self.last_fence.saturating_add(1).max(now.as_micros());
        self.last_fence
    }
}

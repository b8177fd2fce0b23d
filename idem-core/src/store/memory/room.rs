//! What a shard gives up, and when: what is over, what is old, and never a live claim.

use super::index::Place;
use super::shard::Shard;
use crate::{StoreError, StoreErrorKind, Timestamp};

/// Records handled under one lock, so that nobody waits long for it.
const STEP: usize = 256;

impl Shard {
    /// Makes sure that one more record fits.
    ///
    /// Records that are over go first, then the oldest finished ones, then the oldest of those that nobody holds.
    #[inline]
    pub(super) fn make_room(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.index.len() < self.limits.max_records { Ok(()) } else { self.evict(now) }
    }

    #[cold]
    fn evict(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if self.collect(now, STEP).removed + self.remove_ended(now, STEP) + self.remove_over(now, usize::MAX)
            > 0
        {
            return Ok(());
        }
        if self.oldest_age(now).is_some_and(|age| age >= self.limits.min_age) {
            self.evict_oldest(now);
            return Ok(());
        }
        if let Some((id, slot)) = self.claims.oldest_abandoned(now) {
            self.remove(&id, Place::claim(slot));
            self.evicted += 1;
            return Ok(());
        }
        self.refused += 1;
        let (claims, finished) = (self.claims.len(), self.finished.len());
        let message = format!(
            "the memory store is full: {claims} live claims and {finished} records too young to evict in one of its shards"
        );
        Err(StoreError::new(StoreErrorKind::Full, message))
    }

    /// How long ago the oldest finished record was finished.
    pub(super) fn oldest_age(&mut self, now: Timestamp) -> Option<std::time::Duration> {
        let (.., head) = self.finished.oldest()?;
        Some(now.since(head.done_at()))
    }

    /// Removes the record that was finished first.
    pub(super) fn evict_oldest(&mut self, now: Timestamp) {
        if let Some((id, address, head)) = self.finished.oldest() {
            self.remove(&id, Place::finished(address));
            self.evicted += u64::from(now < head.drop_at());
        }
    }

    /// Lets up to `limit` finished records that are due give memory back: a record whose end has passed goes, one whose
    /// body's time has passed is written again without it. Returns how many went.
    pub(super) fn collect(&mut self, now: Timestamp, limit: usize) -> Collected {
        let mut collected = Collected::default();
        while collected.looked_at < limit {
            let Some((id, address, head)) = self.finished.next_due_record(now) else { break };
            collected.looked_at += 1;
            if head.drop_at() <= now {
                self.remove(&id, Place::finished(address));
                collected.removed += 1;
            } else if let Some(moved) = self.finished.bury(address) {
                self.index.repoint(&id, Place::finished(address), Place::finished(moved));
            } else {
                self.evict_oldest(now);
            }
        }
        self.next_due = self.finished.next_due();
        collected
    }

    /// One step of a sweep: removes up to `limit` records whose end has passed, finished or not.
    pub(super) fn sweep(&mut self, now: Timestamp, limit: usize) -> Swept {
        let limit = limit.min(STEP);
        let collected = self.collect(now, limit);
        if collected.looked_at > 0 {
            return Swept { removed: collected.removed, more: true };
        }
        let ended = self.remove_ended(now, limit);
        let removed = ended + self.remove_over(now, limit - ended);
        if removed < limit {
            self.index.shrink();
        }
        Swept { removed, more: removed == limit }
    }

    /// Removes up to `limit` finished records whose end has passed, wherever they are. Returns how many.
    fn remove_ended(&mut self, now: Timestamp, limit: usize) -> usize {
        let ended = self.finished.ended(now, limit);
        for (id, address) in &ended {
            self.remove(id, Place::finished(*address));
        }
        ended.len()
    }

    /// Removes up to `limit` unfinished records that are over. Returns how many.
    pub(super) fn remove_over(&mut self, now: Timestamp, limit: usize) -> usize {
        let over = self.claims.over(now, limit);
        for (id, slot) in &over {
            self.remove(id, Place::claim(*slot));
        }
        over.len()
    }
}

/// What became of the records that were due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Collected {
    pub(super) looked_at: usize,
    pub(super) removed: usize,
}

/// What a step of a sweep did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swept {
    pub(super) removed: usize,
    /// Whether another step may find more.
    pub(super) more: bool,
}

//! Records in this process' memory.
//!
//! Shards by the id's digest, each behind a mutex that is held for one step and never over anybody else's code. A shard has
//! an index of eight bytes a record, a slab of unfinished records, and finished records as bytes in append-only segments: a
//! first delivery and a replay allocate nothing, but for one segment of 64 KiB now and then.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Classed, Reply, Store, StoreClass, StoreIdentity, class};
use crate::clock::Clock;
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use crate::{RecordId, Timestamp, Token};

mod builder;
mod claims;
mod entry;
mod finished;
mod index;
mod limits;
mod room;
mod segment;
mod shard;
mod shared;

#[cfg(test)]
mod tests;

pub use builder::MemoryStoreBuilder;
use shared::Shared;

/// Records in this process' memory: for tests, and for programs of one process whose queue is as short-lived as they are.
///
/// It is empty after a restart, so that each message which the queue delivers again then runs again. Clones are handles to one
/// store.
///
/// # Bounds
///
/// It keeps at most [`max_records`](MemoryStoreBuilder::max_records), for at most [`max_age`](MemoryStoreBuilder::max_age). A new
/// claim that finds it full makes room by removing, in this order: records whose end has passed; the oldest finished records,
/// unless they are younger than [`min_age`](MemoryStoreBuilder::min_age); the oldest records that nobody holds, because their
/// attempt gave them back or fell silent. It never removes a live claim: full of these, it refuses with
/// [`Full`](crate::StoreErrorKind::Full), and the body does not run. [`oldest_completed_age`](MemoryStore::oldest_completed_age) is how far back
/// it remembers: alert on it if it falls below what your queue can redeliver.
///
/// A result's bytes go at its `ttl`, and its record, which still says *done*, at its `keep`. The memory comes back with the
/// claims and completions that follow, or with [`sweep`](Store::sweep).
///
/// # Size
///
/// A finished record takes 82 bytes and its result (measured over a million: 146 with a result of 64 bytes, and 81 once the result's time has
/// passed). As many live at once as messages arrive within `keep`, up to `max_records`:
///
/// ```text
/// memory = messages per second * keep in seconds * bytes per record
///        = 10/s * 1 day (86,400 s) * 146 bytes = 126 MB
/// ```
///
/// # Claims whose body was dropped
///
/// This store lives in the same process as the holders of its claims. So when the driver says that a body was
/// [dropped](Store::dropped) midway, the lease ends there and then instead of running out: the next delivery runs at once, with
/// prior [`Lapsed`](crate::machine::Prior::Lapsed), or is parked under `on_lapse = "park"`. The record stays held by the dropped attempt until
/// then, and a completion by it still counts.
///
/// # Batches
///
/// [`claim_many`](Store::claim_many) and [`end_many`](Store::end_many) take each shard's lock once. If one claim of a batch is
/// refused, the error is the answer for all of them, and the grants that the batch got before are taken back.
///
/// ```
/// # extern crate idem_core as idem;
/// use std::time::Duration;
/// use idem::MemoryStore;
///
/// let store = MemoryStore::builder().max_records(100_000).max_age(Duration::from_secs(86_400)).build();
/// idem::install(store.clone());
/// assert!(store.is_empty());
/// ```
#[derive(Clone)]
pub struct MemoryStore(Arc<Shared>);

/// What a [`MemoryStore`] holds, and what it had to do to stay within its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryCounts {
    /// Records that are held, released, or whose holder fell silent.
    pub unfinished: usize,
    /// Records of results and of errors worth remembering, with or without their bytes.
    pub finished: usize,
    /// Records removed before their end to make room for others, since the store was made.
    pub evicted: u64,
    /// Claims refused because there was no room, since the store was made.
    pub refused: u64,
}

impl MemoryStore {
    /// A store with the default bounds: one million records, each for as long as its handler says.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A store with bounds or a clock of its own.
    pub const fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder::new()
    }

    /// How many records it holds. Those whose end has passed count until they are removed.
    pub fn len(&self) -> usize {
        let counts = self.counts();
        counts.unfinished + counts.finished
    }

    /// Whether it holds no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it holds, by kind. Shards are counted one after the other, while others go on.
    pub fn counts(&self) -> MemoryCounts {
        self.0.counts()
    }

    /// How long ago the oldest finished record that it still holds was finished; `None` if it holds none.
    ///
    /// This is how far back it remembers. Sweeps the store first.
    pub fn oldest_completed_age(&self) -> Option<Duration> {
        self.0.oldest_completed_age()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::<Shared>::clone(&self.0)
    }

    fn class(&self) -> StoreClass {
        self.0.class()
    }

    fn clock(&self) -> Clock {
        self.0.clock()
    }

    fn identity(&self) -> StoreIdentity {
        self.0.identity()
    }

    #[inline]
    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        Shared::claim(&self.0, claim)
    }

    #[inline]
    fn claim_at(&self, claim: &Claim, asked_at: &mut Timestamp) -> Reply<Verdict> {
        Shared::claim_at(&self.0, claim, asked_at)
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        Shared::claim_many(&self.0, claims)
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        Shared::renew(&self.0, renewal)
    }

    #[inline]
    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        Shared::complete(&self.0, completion)
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        Shared::fail(&self.0, completion)
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        Shared::release(&self.0, id, token)
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        Shared::end_many(&self.0, ends)
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        Shared::forget(&self.0, id, force)
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        Shared::inspect(&self.0, id)
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        Shared::sweep(&self.0, limit)
    }

    fn dropped(&self, id: &RecordId, token: &Token) {
        Shared::dropped(&self.0, id, token);
    }
}

impl Classed for MemoryStore {
    type Class = class::Volatile;
}

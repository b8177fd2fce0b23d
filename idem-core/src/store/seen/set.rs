//! The set itself: its shards, its bounds and its clock.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::entry::Entry;
use super::shard::{Found, Seen, Shard};
use crate::clock::Clock;
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// How many messages one shard holds at most: three quarters of an index of 16,384 places, so that a walk through it is short.
pub(super) const PER_SHARD: usize = 12_288;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) max_count: usize,
    pub(super) max_age: Duration,
    /// The greatest result that is kept, in bytes; `None` keeps none.
    pub(super) results: Option<usize>,
}

pub(super) struct Set {
    shards: Box<[Mutex<Shard>]>,
    bounds: Bounds,
    clock: Clock,
    /// How often something was forgotten. An answer that was asked for before that is not remembered after it.
    forgets: AtomicU64,
}

/// The moment at which the store was asked, which is not after the one at which it answered.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) at: Timestamp,
    forgets: u64,
}

/// A message that is done, with what its record says.
pub(super) struct Done<'b> {
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) body: Option<&'b Body>,
    /// How long ago, when the store was asked.
    pub(super) age: Duration,
    /// How long the record says so, from when the store was asked.
    pub(super) valid_for: Duration,
}

impl Set {
    pub(super) fn new(bounds: Bounds, clock: Clock) -> Self {
        let shards = bounds.max_count.div_ceil(PER_SHARD).max(1);
        // The remainder goes to the first shards, so that all limits add up to the bound.
        let limit = |shard| bounds.max_count / shards + usize::from(shard < bounds.max_count % shards);
        let shards =
            (0..shards).map(|shard| Mutex::new(Shard::new(limit(shard), bounds.results.is_some()))).collect();
        Self { shards, bounds, clock, forgets: AtomicU64::new(0) }
    }

    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    pub(super) fn ask(&self) -> Asked {
        Asked { at: self.clock.now(), forgets: self.forgets.load(Ordering::Acquire) }
    }

    pub(super) fn look(&self, id: &RecordId, fingerprint: Option<Fingerprint>, asked: Asked) -> Found {
        self.shard(id).look(id, fingerprint, asked.at)
    }

    /// Notes that an attempt was granted a message with this payload.
    pub(super) fn begin(&self, id: &RecordId, token: Token, fingerprint: Option<Fingerprint>, asked: Asked) {
        let mut shard = self.shard(id);
        if self.forgets.load(Ordering::Acquire) == asked.forgets {
            shard.begin(id, token, fingerprint);
        }
    }

    /// Notes that an attempt sends its completion; returns whether it does so for the first time since its grant, and for the payload of that.
    ///
    /// A completion that is sent again is answered like the first one, though the store may have had that for long: neither its
    /// windows nor its bytes need be those of the record. So only the first is learnt from. Of another payload, its record is still that of the one granted.
    pub(super) fn complete(&self, id: &RecordId, token: &Token, fingerprint: Option<Fingerprint>) -> bool {
        self.shard(id).complete(id, token, fingerprint)
    }

    /// Forgets that an attempt was granted a message.
    pub(super) fn end(&self, id: &RecordId, token: &Token) {
        self.shard(id).end(id, token);
    }

    /// Remembers a message, or that there is nothing to remember of it.
    pub(super) fn learn(&self, id: &RecordId, done: &Done<'_>, asked: Asked) {
        let fits = done.body.is_none_or(|body| self.bounds.results.is_none_or(|max| body.len() <= max));
        if !fits {
            return self.remove(id);
        }
        let until = asked.at.after(done.valid_for.min(self.bounds.max_age));
        let entry = Entry::done(id, done.fingerprint, asked.at, done.age, until);
        let now = self.clock.now();
        if until <= now {
            return self.remove(id);
        }
        let body = done.body.filter(|_| self.bounds.results.is_some()).cloned();
        let mut shard = self.shard(id);
        // Under the shard's lock, so that a forgetting either is seen here or removes what is inserted here.
        if self.forgets.load(Ordering::Acquire) == asked.forgets {
            shard.insert(id, Seen { entry, body }, now);
        }
    }

    pub(super) fn remove(&self, id: &RecordId) {
        self.shard(id).remove(id);
    }

    /// Removes a message whose record goes, and keeps answers that are under way from bringing it back.
    pub(super) fn forget(&self, id: &RecordId) {
        self.forgets.fetch_add(1, Ordering::AcqRel);
        self.remove(id);
    }

    pub(super) const fn keeps_results(&self) -> bool {
        self.bounds.results.is_some()
    }

    fn shard(&self, id: &RecordId) -> MutexGuard<'_, Shard> {
        // The index hashes by the prefix' ends, so the shard is chosen by its middle.
        let middle = (id.prefix() >> 16) & 0xffff_ffff;
        let at = (middle * self.shards.len() as u64) >> 32;
        lock(&self.shards[usize::try_from(at).unwrap_or(0)])
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Set").field("len", &self.len()).field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

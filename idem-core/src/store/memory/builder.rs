//! The bounds of a new `MemoryStore`.

use std::time::Duration;

use super::MemoryStore;
use super::limits::Limits;
use super::shared::Shared;
use crate::clock::{Clock, micros};

/// Half of what a single shard can address, and more than fits into any machine's memory.
const MAX_RECORDS: usize = 1 << 30;

/// Sets up a [`MemoryStore`]; see [`MemoryStore::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder makes nothing until `build`"]
pub struct MemoryStoreBuilder {
    max_records: usize,
    max_age: Duration,
    min_age: Duration,
    clock: Clock,
}

impl MemoryStoreBuilder {
    pub(super) const fn new() -> Self {
        Self {
            max_records: 1_000_000,
            max_age: Duration::MAX,
            min_age: Duration::ZERO,
            clock: Clock::monotonic(),
        }
    }

    /// How many records it keeps at most, of all kinds; one million if not said, which with results of 64 bytes is about 150 MB.
    ///
    /// At least one, at most 2^30. A store of several thousand records or more splits the number evenly over its shards, and
    /// ids fall on these at random, so that the first shard is full a few percent before the whole is.
    pub const fn max_records(mut self, records: usize) -> Self {
        self.max_records = if records == 0 {
            1
        } else if records > MAX_RECORDS {
            MAX_RECORDS
        } else {
            records
        };
        self
    }

    /// How long it keeps a record at most, whatever the handler's `ttl` and `keep` say; without end if not said.
    ///
    /// For a finished record the time runs from its completion. For one that was released, or whose holder fell silent, it
    /// runs from its last grant. A live claim stays.
    pub const fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    /// How long a finished record is safe from eviction; zero if not said.
    ///
    /// A full store evicts its oldest finished record to take a new claim. The record's message would run again if it came
    /// again. With a least age, the store refuses the new claim instead, with [`Full`](crate::StoreErrorKind::Full).
    pub const fn min_age(mut self, age: Duration) -> Self {
        self.min_age = age;
        self
    }

    /// The clock it decides by; [`Clock::monotonic`] if not said. Tests give a [`ManualClock`](crate::ManualClock).
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.clock = clock.into();
        self
    }

    /// Makes the store.
    pub fn build(self) -> MemoryStore {
        let limits =
            Limits { max_records: self.max_records, max_age: micros(self.max_age), min_age: self.min_age };
        MemoryStore(Shared::new(limits, self.clock))
    }
}

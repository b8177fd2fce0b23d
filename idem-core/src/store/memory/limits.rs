//! The bounds of one shard.

use std::time::Duration;

use crate::Timestamp;
use crate::clock::micros;
use crate::machine::Completion;

/// How many records a shard keeps, and for how long.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_records: usize,
    /// In microseconds.
    pub(super) max_age: u64,
    pub(super) min_age: Duration,
}

impl Limits {
    /// When a record granted at `now` is too old, unless somebody holds it.
    pub(super) fn stale_at(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_micros(now.as_micros().saturating_add(self.max_age))
    }

    /// How long this store keeps what a completion brings.
    pub(super) fn window(&self, completion: &Completion) -> Window {
        let ttl = micros(completion.ttl);
        let keep = micros(completion.keep).max(ttl);
        Window { ttl: ttl.min(self.max_age), keep: keep.min(self.max_age) }
    }
}

/// How long a result and its record are kept, in microseconds.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) ttl: u64,
    pub(super) keep: u64,
}

impl Window {
    /// The completion with these times in place of its own.
    pub(super) fn apply_to(self, completion: &Completion) -> Completion {
        let (ttl, keep) = (Duration::from_micros(self.ttl), Duration::from_micros(self.keep));
        Completion { ttl, keep, ..completion.clone() }
    }
}

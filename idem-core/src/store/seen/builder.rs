//! The bounds of a seen set.

use std::sync::Arc;
use std::time::Duration;

use super::SeenSet;
use super::set::{Bounds, Set};
use crate::store::Store;

/// Sets the bounds of a [`SeenSet`].
#[derive(Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct SeenSetBuilder<S> {
    inner: S,
    bounds: Bounds,
}

impl<S: Store> SeenSetBuilder<S> {
    pub(super) const fn new(inner: S) -> Self {
        let bounds = Bounds {
            max_count: 100_000,
            max_age: Duration::from_secs(3_600),
            results: Some(SeenSet::<S>::MAX_RESULT),
        };
        Self { inner, bounds }
    }

    /// How many messages are remembered at most; 100,000 if not said. Zero remembers none.
    ///
    /// A set of more than 12,288 is made of several, each with its share of the messages: what goes when one is full is the
    /// message asked for least recently among its own.
    pub const fn max_count(mut self, messages: usize) -> Self {
        self.bounds.max_count = messages;
        self
    }

    /// How long a message is remembered at most, from when it was learnt; one hour if not said. At the end of this time the
    /// store is asked again, which is also how long a record that another process forgot goes on being skipped here.
    pub const fn max_age(mut self, age: Duration) -> Self {
        self.bounds.max_age = age;
        self
    }

    /// Whether results are remembered with their message; they are if not said.
    ///
    /// Without them a skipped message counts as done, with its result no longer kept: right for handlers that return `()`. A
    /// handler that returns a value is told [`NotKept`](crate::ErrorKind::NotKept).
    pub const fn keep_results(mut self, keep: bool) -> Self {
        self.bounds.results = if keep { Some(SeenSet::<S>::MAX_RESULT) } else { None };
        self
    }

    /// The set, empty. It reads the clock of the store behind it.
    pub fn build(self) -> SeenSet<S> {
        let set = Set::new(self.bounds, self.inner.clock());
        SeenSet::over(self.inner, Arc::new(set))
    }
}

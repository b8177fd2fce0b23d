//! What this process has just handled: skips the call to the store, and is never the control.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Classed, Store};

mod builder;
mod entry;
mod place;
mod set;
mod shard;
mod slab;
mod wrapper;

pub use builder::SeenSetBuilder;
use set::Set;

/// Remembers which messages are done, in front of a store or of [`KeyOnly`](crate::KeyOnly): a redelivery that it knows is
/// answered without asking the store, or without making the call.
///
/// **An optimisation, and never the control.** It is empty after a restart and knows nothing of other processes, so in front of
/// `KeyOnly` it skips calls, and what deduplicates is still the API that receives the key. In front of a store, the store
/// decides whatever the set does not know.
///
/// - Only for what is *done* it answers: known by a completion of this process, or by a replay that the store answered with.
///   Claims, released messages and errors are always the store's to judge, and so is a message with another payload.
/// - It is bounded by count and by age. When it is full, the message goes that was asked for least recently.
/// - An entry never outlives the record that it speaks for. A record that is forgotten through the set is forgotten in it; one
///   that another process forgets is still skipped here until [`max_age`](SeenSetBuilder::max_age) has passed.
/// - Results of up to [`SeenSet::MAX_RESULT`] bytes are remembered with their message, so that a handler that returns a value
///   can be answered. A message with a larger result is not remembered.
///
/// A skip is counted, and shows as [`Outcome::Skipped`](crate::Outcome::Skipped).
///
/// Memory: about 63 bytes for each remembered message, and with results 96 more, plus the bytes of a result over
/// [`Body::INLINE`](crate::Body::INLINE).
///
/// ```
/// # extern crate idem_core as idem;
/// use std::time::Duration;
/// use idem::{KeyOnly, SeenSet};
///
/// let seen = SeenSet::builder(KeyOnly)
///     .max_count(1_000_000)
///     .max_age(Duration::from_secs(600))
///     .keep_results(false)
///     .build();
/// assert!(seen.is_empty());
/// ```
#[derive(Clone)]
pub struct SeenSet<S> {
    inner: S,
    set: Arc<Set>,
    /// The handle to this set, once somebody has asked for one: a call then costs no allocation.
    shared: OnceLock<Arc<dyn Store>>,
}

impl<S: Store> SeenSet<S> {
    /// The greatest encoded result that is remembered with its message, in bytes.
    pub const MAX_RESULT: usize = 512;

    /// An empty set in front of `inner`, with all defaults: 100,000 messages, one hour, with results.
    pub fn new(inner: S) -> Self {
        Self::builder(inner).build()
    }

    /// Begins a set in front of `inner`.
    pub const fn builder(inner: S) -> SeenSetBuilder<S> {
        SeenSetBuilder::new(inner)
    }

    const fn over(inner: S, set: Arc<Set>) -> Self {
        Self { inner, set, shared: OnceLock::new() }
    }

    /// How many messages it holds. Those that run now count too, since they will need their place, and so do those whose time
    /// has passed and whose place nobody has needed yet.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The store behind it.
    pub const fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: Classed> Classed for SeenSet<S> {
    type Class = S::Class;
}

impl<S: fmt::Debug> fmt::Debug for SeenSet<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenSet").field("inner", &self.inner).field("set", &self.set).finish_non_exhaustive()
    }
}

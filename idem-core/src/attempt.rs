//! What a body can know of the attempt that it is part of.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::Timestamp;
use crate::clock::Clock;
use crate::lease::{Lease, Lost};
use crate::machine::{Grant, Prior};

/// One attempt at a message: which it is, how the one before ended, and whether it still owns the message.
///
/// A handler asks for it with an argument `#[attempt] attempt: &Attempt`.
pub struct Attempt {
    grant: Grant,
    clock: Clock,
    until: Timestamp,
    /// Made when somebody needs it: a body that ends at once has neither renewals nor anyone who waits.
    lease: OnceLock<Arc<Lease>>,
}

impl Attempt {
    pub(crate) fn new(grant: Grant, clock: Clock, until: Timestamp) -> Self {
        Self { grant, clock, until, lease: OnceLock::new() }
    }

    /// The order of this grant among all for the key. Hand it to a downstream that can refuse older ones.
    pub fn fence(&self) -> u64 {
        self.grant.fence
    }

    /// Which attempt this is, from 1.
    pub fn tries(&self) -> u32 {
        self.grant.tries
    }

    /// How long ago the first attempt began, on the store's clock.
    pub fn first_age(&self) -> Duration {
        self.grant.first_age
    }

    /// How the attempt before this one ended. After [`Prior::Lapsed`] its effects may have happened.
    pub fn prior(&self) -> Prior {
        self.grant.prior
    }

    /// Whether the lease has ended or was taken over. A body that sees `true` should stop before its next effect.
    pub fn is_lost(&self) -> bool {
        match self.lease.get() {
            Some(lease) => lease.is_lost(),
            None => self.until <= self.clock.now(),
        }
    }

    /// Waits until the lease is lost. Use it in a `select!` beside the work.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + 'static {
        Lost::of(self.lease().clone())
    }

    /// The end of the lease, before any renewal.
    pub(crate) const fn leased_until(&self) -> Timestamp {
        self.until
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        self.lease.get_or_init(|| Lease::new(self.clock.clone(), self.until))
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("fence", &self.fence())
            .field("tries", &self.tries())
            .field("first_age", &self.first_age())
            .field("prior", &self.prior())
            .field("lost", &self.is_lost())
            .finish()
    }
}

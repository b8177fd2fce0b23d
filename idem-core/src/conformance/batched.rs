//! A store as the calls of a batch see it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::fixture::{Bounded, Fixture, MovesClock};
use crate::Store;
use crate::batch::Gathering;

/// Another fixture's store behind what gathers the claims and ends of a [`batch`](crate::batch()): what checks ask at once
/// goes in one `claim_many`, or one `end_many`.
///
/// ```
/// # extern crate idem_core as idem;
/// # fn main() {}
/// # #[cfg(feature = "memory")]
/// mod stores {
///     use idem::{MemoryStore, conformance::Batched};
///
///     idem::conformance_tests!(core, memory_in_batches, Batched::new(MemoryStore::new()));
/// }
/// ```
pub struct Batched<F> {
    fixture: F,
    gathering: Arc<Gathering>,
    /// Threads that wait for what they asked. One of them drives it for all, and another does when that one is done.
    drivers: Mutex<Vec<Waker>>,
}

impl<F: Fixture> Batched<F> {
    /// Puts `fixture`'s store behind it.
    pub fn new(fixture: F) -> Self {
        let gathering = Gathering::over(fixture.store());
        Self { fixture, gathering, drivers: Mutex::default() }
    }

    fn drivers(&self) -> Vec<Waker> {
        std::mem::take(&mut self.drivers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn poll(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>, cx: &mut Context<'_>) -> Poll<()> {
        if work.poll(cx).is_ready() {
            self.drivers().into_iter().for_each(Waker::wake);
            return Poll::Ready(());
        }
        {
            let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
            if !drivers.iter().any(|driver| driver.will_wake(cx.waker())) {
                drivers.push(cx.waker().clone());
            }
        }
        self.gathering.advance(cx);
        Poll::Pending
    }
}

impl<F: Fixture> Fixture for Batched<F> {
    fn store(&self) -> Arc<dyn Store> {
        self.gathering.clone()
    }

    fn drive(&self, mut work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        self.fixture.drive(pin!(poll_fn(move |cx| self.poll(work.as_mut(), cx))));
    }
}

impl<F: MovesClock> MovesClock for Batched<F> {
    fn advance(&self, by: Duration) {
        self.fixture.advance(by);
    }

    fn tick(&self) -> Duration {
        self.fixture.tick()
    }
}

impl<F: Bounded> Bounded for Batched<F> {
    fn too_many(&self) -> usize {
        self.fixture.too_many()
    }
}

impl<F> fmt::Debug for Batched<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batched").finish_non_exhaustive()
    }
}

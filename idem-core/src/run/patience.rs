//! How long something has been tried.

use std::time::Duration;

use crate::Timestamp;
use crate::clock::Clock;
use crate::store::sleep;

/// Time spent on the store's clock, or asleep, whichever is more: a host's clock that is set back an hour must not make a caller
/// wait for that hour.
pub(crate) struct Patience<'c> {
    clock: &'c Clock,
    began: Timestamp,
    slept: Duration,
}

impl<'c> Patience<'c> {
    pub(crate) fn begin(clock: &'c Clock) -> Self {
        Self { clock, began: clock.now(), slept: Duration::ZERO }
    }

    pub(crate) fn spent(&self) -> Duration {
        self.clock.now().since(self.began).max(self.slept)
    }

    pub(crate) async fn sleep(&mut self, pause: Duration) {
        sleep(self.clock, pause).await;
        self.slept = self.slept.saturating_add(pause);
    }
}

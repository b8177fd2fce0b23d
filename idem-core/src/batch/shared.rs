//! What the calls of one batch share.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context;

use super::gathering::Gathering;
use super::seats::Seats;
use crate::call::Ready;
use crate::clock::Clock;
use crate::join::Woken;
use crate::store::{Store, StoreHandle, StoreIdentity, StoreRef};

pub(super) struct Shared {
    calls: usize,
    seats: Arc<Seats>,
    driver: Arc<Woken>,
    /// One for each store that the calls use: as a rule one.
    stores: Mutex<Vec<(StoreIdentity, Arc<Gathering>)>>,
}

impl Shared {
    /// For so many calls, of whose bodies `limit` may run at once.
    pub(super) fn new(calls: usize, limit: usize, driver: Arc<Woken>) -> Arc<Self> {
        Arc::new(Self { calls, seats: Seats::new(calls, limit), driver, stores: Mutex::default() })
    }

    /// Gives a call its seat, and lets what it asks of its store gather.
    pub(super) fn welcome<'c>(&self, mut ready: Ready<'c>) -> Ready<'c> {
        let identity = ready.store.identity();
        ready.seat = Some(self.seats.sit((identity, ready.id())));
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let known = stores.iter().find(|(store, _)| *store == identity);
        let gathering = if let Some((_, gathering)) = known {
            gathering.clone()
        } else {
            let gathering = Gathering::new(ready.store.to_handle(), self.driver.clone(), self.calls);
            stores.push((identity, gathering.clone()));
            gathering
        };
        drop(stores);
        ready.store = StoreRef::Own(StoreHandle::shared(gathering));
        ready
    }

    /// The clock of the first store; `None` if no call has come to one.
    pub(super) fn clock(&self) -> Option<Clock> {
        self.stores().next().map(|store| store.clock())
    }

    pub(super) fn advance(&self, cx: &mut Context<'_>) {
        self.stores().for_each(|store| store.advance(cx));
    }

    /// The batch is over: what its calls have left goes on in the background.
    pub(super) fn close(&self) {
        self.stores().for_each(|store| store.close());
    }

    /// One after the other, since nothing foreign may be called under the lock.
    fn stores(&self) -> impl Iterator<Item = Arc<Gathering>> {
        (0..).map_while(|at| {
            let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
            stores.get(at).map(|(_, gathering)| gathering.clone())
        })
    }
}

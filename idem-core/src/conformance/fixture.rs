//! What a check is given: a store that is fresh, and what can be done to it from outside.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::store::block_on;
use crate::{ManualClock, Store};

/// One store to examine: new, empty, and used by nobody else. Each test makes its own, and tests run side by side.
///
/// Every store that can be cloned is a fixture, and so is an `Arc` of any store: `idem::conformance_tests!(core, mine,
/// MyStore::new())` needs nothing further. What a store can do beyond the core is said by the other traits here.
///
/// A store that needs an async runtime has a fixture that owns the runtime: it opens the store there, and
/// [`drive`](Fixture::drive) is `self.runtime.block_on(work)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no fixture of the conformance suite",
    label = "neither a store that can be cloned, nor a `Fixture`",
    note = "wrap the store in an `Arc`, or implement `idem::conformance::Fixture`"
)]
pub trait Fixture: Send + Sync {
    /// The store: the same one at each call.
    fn store(&self) -> Arc<dyn Store>;

    /// Drives `work` to its end on this thread. By default the thread is parked while it waits; a store that needs an async
    /// runtime on the waiting thread enters it here. Several threads call this at once.
    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        block_on(work);
    }
}

impl<S: Store + Clone> Fixture for S {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }
}

/// A fixture whose store decides by a clock that stands still until it is moved: for the group `clock`.
#[diagnostic::on_unimplemented(
    message = "the clock of `{Self}` cannot be moved by hand",
    note = "make it with `idem::conformance::OnClock::new(|clock| …)`, or implement `idem::conformance::MovesClock`"
)]
pub trait MovesClock: Fixture {
    /// Moves the store's clock by exactly this much.
    fn advance(&self, by: Duration);

    /// The shortest time that the store tells apart; one microsecond if not said.
    fn tick(&self) -> Duration {
        Duration::from_micros(1)
    }
}

/// A fixture whose store can be closed and opened again: for the group `durable`.
#[diagnostic::on_unimplemented(
    message = "the store of `{Self}` cannot be opened again",
    note = "make it with `idem::conformance::Opening::new(|| …)`, or implement `idem::conformance::Reopens`"
)]
pub trait Reopens: Fixture {
    /// Closes the store as the end of its process would, and opens it again. Nobody holds a handle meanwhile.
    fn reopen(&self);
}

/// A fixture whose records can be reached by a second way: for the group `shared`.
#[diagnostic::on_unimplemented(
    message = "the records of `{Self}` have one way to them only",
    note = "make it with `idem::conformance::Opening::new(|| …)`, or implement `idem::conformance::Shares`"
)]
pub trait Shares: Fixture {
    /// The same records through a store of its own, as another process would open them: a connection of its own, and nothing
    /// remembered in memory that the first does not share.
    fn another(&self) -> Arc<dyn Store>;
}

/// A fixture whose records other processes can open: for the group `processes`.
#[diagnostic::on_unimplemented(
    message = "another process cannot open the store of `{Self}`",
    note = "implement `idem::conformance::Spans`: it says in words where the records are, and opens what it said"
)]
pub trait Spans: Fixture + Sized {
    /// Where the records are, in words that [`open`](Spans::open) understands in another process.
    fn place(&self) -> String;

    /// Opens the records at `place`, in another process. They outlive the fixture that this makes.
    fn open(place: &str) -> Self;
}

/// A fixture whose store is small enough to be filled: for the group `bounded`.
#[diagnostic::on_unimplemented(
    message = "nothing says how many claims the store of `{Self}` has room for",
    note = "make it with `idem::conformance::Small::new(store, limit)`, or implement `idem::conformance::Bounded`"
)]
pub trait Bounded: Fixture {
    /// A number of live claims that the store cannot hold all at once; at most some ten thousands.
    fn too_many(&self) -> usize;
}

/// A store on a clock that is moved by hand.
///
/// ```
/// # extern crate idem_core as idem;
/// use idem::conformance::OnClock;
/// # #[cfg(feature = "memory")]
/// let fixture = OnClock::new(|clock| idem::MemoryStore::builder().clock(clock).build());
/// ```
pub struct OnClock {
    store: Arc<dyn Store>,
    clock: ManualClock,
}

impl OnClock {
    /// Makes the store on a new clock.
    pub fn new<S: Store>(make: impl FnOnce(ManualClock) -> S) -> Self {
        let clock = ManualClock::new();
        Self { store: Arc::new(make(clock.clone())), clock }
    }
}

impl Fixture for OnClock {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }
}

impl MovesClock for OnClock {
    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

impl fmt::Debug for OnClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnClock").field("store", &self.store).field("clock", &self.clock).finish()
    }
}

/// A store that lives somewhere: it is opened as often as a check asks for it.
///
/// ```no_run
/// # extern crate idem_core as idem;
/// # #[cfg(feature = "sqlite")] {
/// use idem::{SqliteStore, conformance::Opening};
///
/// let file = std::env::temp_dir().join("idem-conformance.db"); // in a real test, one that is new each time
/// let fixture = Opening::new(move || SqliteStore::open(&file).expect("a new file"));
/// # }
/// ```
pub struct Opening {
    open: Box<dyn Fn() -> Arc<dyn Store> + Send + Sync>,
    current: Mutex<Option<Arc<dyn Store>>>,
}

impl Opening {
    /// `open` opens the same place each time; the first time it is empty. What `open` owns lives as long as the fixture.
    pub fn new<S: Store>(open: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self { open: Box::new(move || Arc::new(open())), current: Mutex::new(None) }
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<dyn Store>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fixture for Opening {
    fn store(&self) -> Arc<dyn Store> {
        self.current().get_or_insert_with(&self.open).clone()
    }
}

impl Reopens for Opening {
    fn reopen(&self) {
        let mut current = self.current();
        // The old one is closed before the new one is opened.
        *current = None;
        *current = Some((self.open)());
    }
}

impl Shares for Opening {
    fn another(&self) -> Arc<dyn Store> {
        (self.open)()
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("current", &*self.current()).finish_non_exhaustive()
    }
}

/// A store with a bound that a check can reach.
pub struct Small {
    store: Arc<dyn Store>,
    too_many: usize,
}

impl Small {
    /// `store`, which cannot hold `too_many` live claims at once.
    pub fn new<S: Store>(store: S, too_many: usize) -> Self {
        Self { store: Arc::new(store), too_many }
    }
}

impl Fixture for Small {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }
}

impl Bounded for Small {
    fn too_many(&self) -> usize {
        self.too_many
    }
}

impl fmt::Debug for Small {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Small").field("store", &self.store).field("too_many", &self.too_many).finish()
    }
}

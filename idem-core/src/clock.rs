//! The one clock that a store decides by, and timers that follow it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::background;

/// An instant on a store's clock, in microseconds since that clock's own epoch.
///
/// Two stores have two epochs: compare timestamps of one store only. Arithmetic saturates, so that a lease of centuries
/// ends at the end of time instead of wrapping round to the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The clock's epoch.
    pub const ZERO: Self = Self(0);
    /// The end of time.
    pub const MAX: Self = Self(u64::MAX);

    /// Makes a timestamp from microseconds since the clock's epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the clock's epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// This instant and `duration` later, or the end of time. Parts of a microsecond are cut off.
    #[must_use]
    pub const fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(micros(duration)))
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// Whole microseconds of a duration, saturating.
pub(crate) const fn micros(duration: Duration) -> u64 {
    match duration.as_secs().checked_mul(1_000_000) {
        Some(whole) => whole.saturating_add(duration.subsec_micros() as u64),
        None => u64::MAX,
    }
}

/// What a timer does when it is due.
pub(crate) enum Task {
    Run(Box<dyn FnOnce() + Send>),
    /// Needs no allocation, and matters only while somebody else holds what it is for.
    Call(Weak<dyn Due>),
}

/// What waits for its time, while it lives.
pub(crate) trait Due: Send + Sync {
    fn due(self: Arc<Self>);
}

impl Task {
    pub(crate) fn run(self) {
        match self {
            Self::Run(task) => task(),
            Self::Call(held) => {
                if let Some(held) = held.upgrade() {
                    held.due();
                }
            }
        }
    }

    /// Whether running it does anything.
    pub(crate) fn matters(&self) -> bool {
        match self {
            Self::Run(_) => true,
            Self::Call(held) => held.strong_count() > 0,
        }
    }
}

/// The clock of a store: what it decides leases and lifetimes by, and what the driver times renewals by.
#[derive(Clone, Default)]
pub struct Clock(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    Monotonic,
    Wall,
    Manual(ManualClock),
}

impl Clock {
    /// Time since this process started, read from the kernel's coarse clock where there is one (4 ms steps at most, a few
    /// nanoseconds a reading). For stores that no other process shares.
    pub const fn monotonic() -> Self {
        Self(Kind::Monotonic)
    }

    /// The host's wall clock. For stores that several processes of one host share.
    pub const fn wall() -> Self {
        Self(Kind::Wall)
    }

    /// The present instant.
    #[inline]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::Monotonic => Timestamp(monotonic_micros()),
            Kind::Wall => Timestamp(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, micros)),
            Kind::Manual(clock) => clock.now(),
        }
    }

    /// Runs `task` once `delay` has passed on this clock: on the background thread, or, if the clock is manual, on the
    /// thread that moves it. A task must be short and must not block.
    pub fn after(&self, delay: Duration, task: impl FnOnce() + Send + 'static) {
        self.schedule(delay, Task::Run(Box::new(task)));
    }

    /// Calls `held` once `delay` has passed on this clock, if it still lives then; see [`after`](Self::after).
    pub(crate) fn call(&self, delay: Duration, held: Weak<dyn Due>) {
        self.schedule(delay, Task::Call(held));
    }

    fn schedule(&self, delay: Duration, task: Task) {
        match &self.0 {
            Kind::Monotonic | Kind::Wall => background::after(delay, task),
            Kind::Manual(clock) => clock.after(delay, task),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Monotonic => "Clock::monotonic()",
            Kind::Wall => "Clock::wall()",
            Kind::Manual(_) => "ManualClock",
        })
    }
}

impl From<ManualClock> for Clock {
    fn from(clock: ManualClock) -> Self {
        Self(Kind::Manual(clock))
    }
}

/// Coarse time since the process' first reading, plus one second so that nothing happens at the epoch itself.
fn monotonic_micros() -> u64 {
    static START: OnceLock<coarsetime::Instant> = OnceLock::new();
    // Without the update of coarsetime's own cache: a write that all threads share would cost more than the reading.
    let now = coarsetime::Instant::now_without_cache_update();
    now.duration_since(*START.get_or_init(|| now)).as_micros().saturating_add(1_000_000)
}

/// A clock that moves only when told to, for tests. Clones are one clock.
///
/// ```
/// # extern crate idem_core as idem;
/// use std::time::Duration;
/// use idem::ManualClock;
///
/// let clock = ManualClock::new();
/// let start = clock.now();
/// clock.advance(Duration::from_secs(30));
/// assert_eq!(clock.now().since(start), Duration::from_secs(30));
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<Manual>);

struct Manual {
    now: AtomicU64,
    timers: Mutex<Vec<(Timestamp, Task)>>,
}

impl ManualClock {
    /// A clock that stands one second after its epoch.
    pub fn new() -> Self {
        Self::at(Timestamp(1_000_000))
    }

    /// A clock that stands at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Manual { now: AtomicU64::new(now.0), timers: Mutex::default() }))
    }

    /// The instant at which it stands.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.0.now.load(Ordering::Acquire))
    }

    /// Moves it by `step`, stopping at each timer on the way to run it.
    pub fn advance(&self, step: Duration) {
        self.advance_to(self.now().after(step));
    }

    /// Moves it to `target`, stopping at each timer on the way to run it. An earlier `target` sets it back and runs none.
    pub fn advance_to(&self, target: Timestamp) {
        while let Some((due, task)) = self.next_due(target) {
            self.0.now.fetch_max(due.0, Ordering::AcqRel);
            task.run();
        }
        self.0.now.store(target.0, Ordering::Release);
    }

    /// How many timers wait.
    pub fn timers(&self) -> usize {
        self.lock().len()
    }

    fn after(&self, delay: Duration, task: Task) {
        self.lock().push((self.now().after(delay), task));
    }

    fn next_due(&self, target: Timestamp) -> Option<(Timestamp, Task)> {
        let mut timers = self.lock();
        let (first, _) = timers.iter().enumerate().min_by_key(|(_, (due, _))| *due)?;
        (timers[first].0 <= target).then(|| timers.remove(first))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Timestamp, Task)>> {
        self.0.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.now()).finish_non_exhaustive()
    }
}

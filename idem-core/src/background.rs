//! One thread for what must go on without the caller: timers, renewals, and completions whose caller went away.
//!
//! It starts at the first use and needs no async runtime, so that handlers run on any of them, or on none. Handlers that
//! finish before their first renewal is due never wake it: a timer only interrupts its sleep if it is due sooner.

use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use crate::clock::Task;

/// Runs `task` on the background thread once `delay` has passed.
pub(crate) fn after(delay: Duration, task: Task) {
    // A due time past what an `Instant` can hold is never.
    if let Some(due) = Instant::now().checked_add(delay) {
        background().push(Timer { due, task });
    }
}

/// Drives `future` on the background thread to its end.
pub(crate) fn spawn(future: Pin<Box<dyn Future<Output = ()> + Send>>) {
    Arc::new(Detached { future: Mutex::new(Some(future)) }).schedule();
}

/// A future that nobody awaits; each wake-up queues one poll.
struct Detached {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl Detached {
    fn schedule(self: Arc<Self>) {
        background().push(Timer { due: Instant::now(), task: Box::new(move || self.poll()) });
    }

    fn poll(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut slot = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cx = Context::from_waker(&waker);
        if slot.as_mut().is_some_and(|future| future.as_mut().poll(&mut cx) == Poll::Ready(())) {
            *slot = None;
        }
    }
}

impl Wake for Detached {
    fn wake(self: Arc<Self>) {
        self.schedule();
    }
}

struct Timer {
    due: Instant,
    task: Task,
}

// A `BinaryHeap` pops its greatest: the greatest timer is the one due first.
impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.due.cmp(&self.due)
    }
}
impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}
impl Eq for Timer {}

#[derive(Default)]
struct Background {
    timers: Mutex<BinaryHeap<Timer>>,
    sooner: Condvar,
}

impl Background {
    fn push(&self, timer: Timer) {
        let mut timers = self.lock();
        let sooner = timers.peek().is_none_or(|first| timer.due < first.due);
        timers.push(timer);
        drop(timers);
        if sooner {
            self.sooner.notify_one();
        }
    }

    fn run(&self) {
        let mut timers = self.lock();
        loop {
            let now = Instant::now();
            let wait = timers.peek().map(|first| first.due.saturating_duration_since(now));
            match wait {
                None => timers = self.sooner.wait(timers).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    let timer = timers.pop();
                    drop(timers);
                    if let Some(timer) = timer {
                        // A task that panics must not end the renewals of all other handlers.
                        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(timer.task));
                    }
                    timers = self.lock();
                }
                Some(wait) => {
                    timers = self.sooner.wait_timeout(timers, wait).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Timer>> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn background() -> &'static Background {
    static BACKGROUND: OnceLock<&'static Background> = OnceLock::new();
    BACKGROUND.get_or_init(|| {
        let background: &'static Background = Box::leak(Box::default());
        std::thread::Builder::new()
            .name("idem".into())
            .spawn(move || background.run())
            .expect("idem needs one thread for its timers, and the operating system refused it");
        background
    })
}

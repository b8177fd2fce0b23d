//! One thread for what must go on without the caller: timers, renewals, and completions whose caller went away.
//!
//! It starts at the first use and needs no async runtime, so that handlers run on any of them, or on none. Handlers that
//! finish before their first renewal is due never wake it: a timer only interrupts its sleep if it is due sooner.

use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Wake, Waker};
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
        background().push(Timer { due: Instant::now(), task: Task::Run(Box::new(move || self.poll())) });
    }

    fn poll(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        // Taken out while it is polled: should it panic, it is dropped, and what it holds with it.
        let Some(mut future) = self.lock().take() else { return };
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            *self.lock() = Some(future);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pin<Box<dyn Future<Output = ()> + Send>>>> {
        self.future.lock().unwrap_or_else(PoisonError::into_inner)
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
    timers: Mutex<Timers>,
    sooner: Condvar,
}

#[derive(Default)]
struct Timers {
    heap: BinaryHeap<Timer>,
    /// At how many timers those go whose body has ended: twice as many as were left the last time.
    crowded: usize,
}

impl Timers {
    /// Adds a timer; returns whether it is the first that is due.
    fn push(&mut self, timer: Timer) -> bool {
        // A body that ends leaves its renewal behind. Ten seconds' worth of them would be a queue's whole traffic.
        if self.heap.len() >= self.crowded {
            self.heap.retain(|timer| timer.task.matters());
            self.crowded = (self.heap.len() * 2).max(64);
        }
        let sooner = self.heap.peek().is_none_or(|first| timer.due < first.due);
        self.heap.push(timer);
        sooner
    }
}

impl Background {
    fn push(&self, timer: Timer) {
        let mut timers = self.lock();
        let sooner = timers.push(timer);
        drop(timers);
        if sooner {
            self.sooner.notify_one();
        }
    }

    fn run(&self) {
        let mut timers = self.lock();
        loop {
            let now = Instant::now();
            let wait = timers.heap.peek().map(|first| first.due.saturating_duration_since(now));
            match wait {
                None => timers = self.sooner.wait(timers).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    let timer = timers.heap.pop();
                    drop(timers);
                    if let Some(timer) = timer {
                        // A task that panics must not end the renewals of all other handlers.
                        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| timer.task.run()));
                    }
                    timers = self.lock();
                }
                Some(wait) => {
                    timers = self.sooner.wait_timeout(timers, wait).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Timers> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Due;

    struct Held;
    impl Due for Held {
        fn due(self: Arc<Self>) {}
    }

    #[test]
    fn timers_of_bodies_that_have_ended_do_not_pile_up() {
        let mut timers = Timers::default();
        let due = Instant::now() + Duration::from_secs(10);
        let held: Arc<dyn Due> = Arc::new(Held);
        timers.push(Timer { due, task: Task::Call(Arc::downgrade(&held)) });
        for _ in 0..100_000 {
            let ended: Arc<dyn Due> = Arc::new(Held);
            timers.push(Timer { due, task: Task::Call(Arc::downgrade(&ended)) });
        }
        assert!(timers.heap.len() <= 65, "{}", timers.heap.len());
        assert_eq!(timers.heap.iter().filter(|timer| timer.task.matters()).count(), 1);
    }
}

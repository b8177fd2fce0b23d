//! An operation that ends in time, whoever polls it.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::Timestamp;
use crate::clock::{Clock, Due};
use crate::store::{block_on, blocking, waits_within_a_runtime};

/// How long operations may take. The time is that of idem's own thread, so that the end comes even if a runtime is stuck or gone.
///
/// Operations that begin within a thirty-second part of the limit share one timer: a timer for each would wake that thread for
/// each, long after most have ended.
pub(super) struct Deadline {
    limit: Duration,
    shared: Mutex<Option<(Timestamp, Arc<Alarm>)>>,
}

impl Deadline {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, shared: Mutex::new(None) }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// The output of `operation`, or `None` once its time has passed. Needs no runtime to be polled.
    pub(super) fn within<F: Future>(&self, operation: F) -> Within<'_, F> {
        Within { operation, deadline: self, place: None, begun: false }
    }

    /// The alarm of an operation that begins now.
    fn alarm(&self) -> Arc<Alarm> {
        let clock = Clock::monotonic();
        let (now, share) = (clock.now(), self.limit / 32);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, alarm)) = &*shared
            && now.since(*since) <= share
        {
            return alarm.clone();
        }
        let alarm = Arc::new(Alarm::default());
        let due: Arc<dyn Due> = alarm.clone();
        let due: Weak<dyn Due> = Arc::downgrade(&due);
        clock.call(self.limit + share, due);
        *shared = Some((now, alarm.clone()));
        alarm
    }
}

pin_project! {
    /// See [`Deadline::within`].
    pub(super) struct Within<'d, F> {
        #[pin]
        operation: F,
        deadline: &'d Deadline,
        place: Option<Place>,
        begun: bool,
    }
}

impl<F: Future> Future for Within<'_, F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !std::mem::replace(self.as_mut().project().begun, true) && waits_within_a_runtime() {
            // Connections may be served by this very thread.
            return Poll::Ready(blocking(|| block_on(self.as_mut())));
        }
        let this = self.project();
        if let Poll::Ready(output) = this.operation.poll(cx) {
            *this.place = None;
            return Poll::Ready(Some(output));
        }
        match this.place {
            Some(place) => place.wait(cx.waker()),
            None => *this.place = Some(Alarm::enter(this.deadline.alarm(), cx.waker())),
        }
        let rung = this.place.as_ref().is_some_and(|place| place.alarm.rung.load(Ordering::Acquire));
        if rung { Poll::Ready(None) } else { Poll::Pending }
    }
}

/// A timer that operations share.
#[derive(Default)]
struct Alarm {
    rung: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

/// One operation's place among those that wait for an alarm; given up when it is dropped.
struct Place {
    alarm: Arc<Alarm>,
    number: usize,
}

impl Alarm {
    fn enter(alarm: Arc<Self>, waker: &Waker) -> Place {
        let mut waiting = alarm.waiting();
        let number = waiting.free.pop().unwrap_or_else(|| {
            waiting.wakers.push(None);
            waiting.wakers.len() - 1
        });
        waiting.wakers[number] = Some(waker.clone());
        drop(waiting);
        Place { alarm, number }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn wait(&self, waker: &Waker) {
        match &mut self.alarm.waiting().wakers[self.number] {
            Some(kept) => kept.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.alarm.waiting();
        let waker = waiting.wakers[self.number].take();
        waiting.free.push(self.number);
        // It may be the last to hold a task, whose end may drop another place.
        drop(waiting);
        drop(waker);
    }
}

impl Due for Alarm {
    fn due(self: Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        let wakers: Vec<_> = self.waiting().wakers.iter_mut().filter_map(Option::take).collect();
        // A waker may poll at once, on this thread.
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_ends_in_time() {
        assert_eq!(
            block_on(Deadline::new(Duration::from_millis(1)).within(std::future::pending::<()>())),
            None
        );
    }

    #[test]
    fn operations_that_share_a_timer_all_end_in_time() {
        let deadline = Deadline::new(Duration::from_millis(20));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(block_on(deadline.within(std::future::pending::<()>())), None));
            }
        });
    }

    #[test]
    fn what_is_there_needs_no_time() {
        assert_eq!(block_on(Deadline::new(Duration::ZERO).within(std::future::ready(7))), Some(7));
    }

    #[test]
    fn a_thread_that_waits_within_a_runtime_gives_its_place_to_others() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let waited = runtime.block_on(runtime.spawn(async {
            let (say, hear) = tokio::sync::oneshot::channel();
            // The only worker: it runs the other task only if it is given away.
            tokio::spawn(async move { say.send(7) });
            block_on(Deadline::new(Duration::from_secs(30)).within(hear))
        }));
        assert_eq!(waited.unwrap(), Some(Ok(7)));
    }
}

//! An operation that ends in time, whoever polls it.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::clock::{Clock, Due};
use crate::store::{block_on, may_block};

pin_project! {
    /// The output of an operation, or `None` once `limit` has passed. Both need no runtime to be polled: the time is that of
    /// idem's own thread, so that the end comes even if the runtime is stuck or gone.
    pub(super) struct Within<F> {
        #[pin]
        operation: F,
        limit: Duration,
        alarm: Option<Arc<Alarm>>,
        begun: bool,
    }
}

pub(super) fn within<F: Future>(limit: Duration, operation: F) -> Within<F> {
    Within { operation, limit, alarm: None, begun: false }
}

impl<F: Future> Future for Within<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !std::mem::replace(self.as_mut().project().begun, true) && blocks_a_worker() {
            let mut operation = self.as_mut();
            let waited = catch_unwind(AssertUnwindSafe(|| {
                tokio::task::block_in_place(|| block_on(operation.as_mut()))
            }));
            // Within a `LocalSet` a worker cannot be given away: then its thread is blocked, as the caller wants it.
            if let Ok(output) = waited {
                return Poll::Ready(output);
            }
        }
        let this = self.project();
        if let Poll::Ready(output) = this.operation.poll(cx) {
            return Poll::Ready(Some(output));
        }
        let alarm = this.alarm.get_or_insert_with(|| {
            let alarm = Arc::new(Alarm::default());
            let due: Arc<dyn Due> = alarm.clone();
            let due: Weak<dyn Due> = Arc::downgrade(&due);
            Clock::monotonic().call(*this.limit, due);
            alarm
        });
        if alarm.rings(cx.waker()) { Poll::Ready(None) } else { Poll::Pending }
    }
}

/// Whether this thread waits for nothing else, and is a worker of a runtime: connections may be served by this very thread, so it
/// must be given away while the wait lasts.
fn blocks_a_worker() -> bool {
    may_block()
        && Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[derive(Default)]
struct Alarm {
    rung: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Alarm {
    /// Whether the time has passed; wakes `waker` when it has.
    fn rings(&self, waker: &Waker) -> bool {
        let mut kept = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some(kept) => kept.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        self.rung.load(Ordering::Acquire)
    }
}

impl Due for Alarm {
    fn due(self: Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A waker may poll at once, on this thread.
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_ends_in_time() {
        assert_eq!(block_on(within(Duration::from_millis(1), std::future::pending::<()>())), None);
    }

    #[test]
    fn what_is_there_needs_no_time() {
        assert_eq!(block_on(within(Duration::ZERO, std::future::ready(7))), Some(7));
    }

    #[test]
    fn a_thread_that_waits_within_a_runtime_gives_its_place_to_others() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let waited = runtime.block_on(runtime.spawn(async {
            let (say, hear) = tokio::sync::oneshot::channel();
            // The only worker: it runs the other task only if it is given away.
            tokio::spawn(async move { say.send(7) });
            block_on(within(Duration::from_secs(30), hear))
        }));
        assert_eq!(waited.unwrap(), Some(Ok(7)));
    }
}

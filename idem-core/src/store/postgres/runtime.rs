//! Operations belong to the runtime that the store was opened in: its connections do.
//!
//! Each runs there: as a task, so that any executor can wait for one, or, where a worker of that runtime polls the reply, along with it. A task
//! wakes another worker for each statement, which costs a fifth of a round trip to a server nearby. A reply that is dropped midway goes on as
//! a task, so that it leaves no half of a statement in a connection.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;

use super::place::Place;
use crate::clock::Clock;
use crate::store::{Sleep, block_on, blocking, may_block, sleep, waits_within_a_runtime};
use crate::{StoreError, StoreErrorKind};

/// Bytes of an operation before it is begun.
const MOST: usize = 4_096;

type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// The runtime that a store was opened in.
#[derive(Clone)]
pub(super) struct Home {
    pub(super) runtime: Handle,
    /// Of the store. Runtimes cannot be told apart in all versions of tokio.
    number: u64,
}

thread_local! {
    /// The store that had a task here last, if this is a worker of a runtime of several threads. It is one of the same runtime for ever.
    static WORKS_FOR: Cell<u64> = const { Cell::new(0) };
}

impl Home {
    pub(super) fn new(runtime: Handle) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { runtime, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Whether this thread is known as a worker of the runtime. There it has not ended.
    fn is_here(&self) -> bool {
        WORKS_FOR.get() == self.number
    }

    fn spawn<T: Send + 'static>(&self, operation: Boxed<T>) -> JoinHandle<Result<T, StoreError>> {
        // A runtime of one thread has no other to wake, and its thread may serve another one later.
        if self.runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return self.runtime.spawn(operation);
        }
        let number = self.number;
        self.runtime.spawn(async move {
            WORKS_FOR.set(number);
            operation.await
        })
    }
}

/// The answer to come. The operation is begun when this is first polled, and from then on comes to its end, with or without it.
pub(super) struct OnRuntime<T: Send + 'static> {
    home: Home,
    place: Place,
    limit: Duration,
    /// How long a thread waits that may be the one which has to do the work.
    patience: Option<Sleep>,
    state: State<T>,
}

enum State<T> {
    Unsent(Boxed<T>),
    /// Begun, and polled along with this.
    Here(Boxed<T>),
    /// A task's.
    Sent(JoinHandle<Result<T, StoreError>>),
    Ended,
}

impl<T: Send + 'static> OnRuntime<T> {
    pub(super) fn new(
        home: Home,
        place: Place,
        limit: Duration,
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Self {
        // It is moved some times before it is begun. What is rare and large, as connecting is, must be boxed.
        debug_assert!(size_of_val(&operation) <= MOST, "an operation of {} bytes", size_of_val(&operation));
        Self { home, place, limit, patience: None, state: State::Unsent(Box::pin(operation)) }
    }

    fn heard(&self, joined: Result<Result<T, StoreError>, tokio::task::JoinError>) -> Result<T, StoreError> {
        match joined.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(answer) => answer,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            Err(Err(_)) => Err(self
                .place
                .error(StoreErrorKind::Unavailable, "the runtime that it was opened in has ended")),
        }
    }
}

impl<T: Send + 'static> OnRuntime<T> {
    /// A thread that is parked may be the only one of the runtime: nothing in there can end the wait, the operation's own limit neither.
    fn is_out_of_patience(&mut self, cx: &mut Context<'_>) -> bool {
        if !may_block() || self.home.runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return false;
        }
        // What is answered as late as it may be is on its way then.
        let limit = self.limit + self.limit / 8;
        let patience = self.patience.get_or_insert_with(|| sleep(&Clock::monotonic(), limit));
        Pin::new(patience).poll(cx).is_ready()
    }
}

impl<T: Send + 'static> Unpin for OnRuntime<T> {}

impl<T: Send + 'static> Drop for OnRuntime<T> {
    fn drop(&mut self) {
        if let State::Here(operation) = std::mem::replace(&mut self.state, State::Ended) {
            self.home.spawn(operation);
        }
    }
}

impl<T: Send + 'static> Future for OnRuntime<T> {
    type Output = Result<T, StoreError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut task = match std::mem::replace(&mut this.state, State::Ended) {
            State::Unsent(mut operation) | State::Here(mut operation)
                if this.home.is_here() && !may_block() =>
            {
                // The worker may have entered another runtime meanwhile, and timers and connections are to be of this one.
                let within = this.home.runtime.enter();
                let polled = operation.as_mut().poll(cx);
                drop(within);
                if polled.is_pending() {
                    this.state = State::Here(operation);
                }
                return polled;
            }
            State::Unsent(operation) | State::Here(operation) => this.home.spawn(operation),
            State::Sent(task) => task,
            State::Ended => panic!("a reply gives its answer once"),
        };
        if waits_within_a_runtime() {
            // A plain `fn` on a thread that should be running tasks, this one among them. They go on on another.
            return Poll::Ready(this.heard(blocking(|| block_on(task))));
        }
        match Pin::new(&mut task).poll(cx) {
            Poll::Ready(joined) => Poll::Ready(this.heard(joined)),
            Poll::Pending if this.is_out_of_patience(cx) => Poll::Ready(Err(this.place.error(
                StoreErrorKind::Unavailable,
                format_args!(
                    "the runtime that it was opened in, which has one thread, did not come to this within {:?}; if it is that thread which \
                     waits, await the reply instead, or open the store in a multi-threaded runtime",
                    this.limit
                ),
            ))),
            Poll::Pending => {
                this.state = State::Sent(task);
                Poll::Pending
            }
        }
    }
}

//! Operations belong to the runtime that the store was opened in: its connections do.
//!
//! Each runs there as a task, so that a reply that is dropped midway leaves no half of a statement in a connection, and so that any
//! executor can wait for one. A task costs a fraction of a microsecond, and a statement hundreds.

use std::future::Future;
use std::pin::Pin;
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

/// The answer to come. The operation is begun when this is first polled, and from then on goes on without it.
pub(super) struct OnRuntime<T> {
    runtime: Handle,
    place: Place,
    limit: Duration,
    /// How long a thread waits that may be the one which has to do the work.
    patience: Option<Sleep>,
    state: State<T>,
}

enum State<T> {
    Unsent(Boxed<T>),
    Sent(JoinHandle<Result<T, StoreError>>),
    Ended,
}

impl<T: Send + 'static> OnRuntime<T> {
    pub(super) fn new(
        runtime: Handle,
        place: Place,
        limit: Duration,
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Self {
        // It is moved some times before it is begun. What is rare and large, as connecting is, must be boxed.
        debug_assert!(size_of_val(&operation) <= MOST, "an operation of {} bytes", size_of_val(&operation));
        Self { runtime, place, limit, patience: None, state: State::Unsent(Box::pin(operation)) }
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

impl<T> OnRuntime<T> {
    /// A thread that is parked may be the only one of the runtime: nothing in there can end the wait, the operation's own limit neither.
    fn is_out_of_patience(&mut self, cx: &mut Context<'_>) -> bool {
        if !may_block() || self.runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
            return false;
        }
        // What is answered as late as it may be is on its way then.
        let limit = self.limit + self.limit / 8;
        let patience = self.patience.get_or_insert_with(|| sleep(&Clock::monotonic(), limit));
        Pin::new(patience).poll(cx).is_ready()
    }
}

impl<T> Unpin for OnRuntime<T> {}

impl<T: Send + 'static> Future for OnRuntime<T> {
    type Output = Result<T, StoreError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut task = match std::mem::replace(&mut this.state, State::Ended) {
            State::Unsent(operation) => this.runtime.spawn(operation),
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

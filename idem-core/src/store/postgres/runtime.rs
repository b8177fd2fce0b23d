//! Operations belong to the runtime that the store was opened in: its connections do.
//!
//! Each runs there as a task, so that a reply that is dropped midway leaves no half of a statement in a connection, and so that any
//! executor can wait for one. A task costs a fraction of a microsecond, and a statement hundreds.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;

use super::place::Place;
use crate::store::{block_on, may_block};
use crate::{StoreError, StoreErrorKind};

/// Bytes of an operation before it is begun.
const MOST: usize = 4_096;

type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// The answer to come. The operation is begun when this is first polled, and from then on goes on without it.
pub(super) struct OnRuntime<T> {
    runtime: Handle,
    place: Place,
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
        operation: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Self {
        // It is moved some times before it is begun. What is rare and large, as connecting is, must be boxed.
        debug_assert!(size_of_val(&operation) <= MOST, "an operation of {} bytes", size_of_val(&operation));
        Self { runtime, place, state: State::Unsent(Box::pin(operation)) }
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
        if may_block() && on_a_worker() {
            // A plain `fn` on a thread that should be running tasks, this one among them. They go on on another.
            return Poll::Ready(this.heard(tokio::task::block_in_place(|| block_on(task))));
        }
        match Pin::new(&mut task).poll(cx) {
            Poll::Ready(joined) => Poll::Ready(this.heard(joined)),
            Poll::Pending => {
                this.state = State::Sent(task);
                Poll::Pending
            }
        }
    }
}

fn on_a_worker() -> bool {
    Handle::try_current().is_ok_and(|current| current.runtime_flavor() == RuntimeFlavor::MultiThread)
}

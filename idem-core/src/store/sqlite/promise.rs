//! One answer that one thread owes to one future.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Makes a promise and the future that waits for it.
pub(super) fn promise<T>() -> (Promise<T>, Promised<T>) {
    let slot = Arc::new(Slot(Mutex::new(State::Open(None))));
    (Promise(slot.clone()), Promised(slot))
}

/// The side that answers. Dropped without an answer, it says so.
pub(super) struct Promise<T>(Arc<Slot<T>>);

/// The side that waits: the answer, or `None` if the promise was dropped. Nothing happens to the work if this is dropped.
pub(super) struct Promised<T>(Arc<Slot<T>>);

struct Slot<T>(Mutex<State<T>>);

enum State<T> {
    Open(Option<Waker>),
    Kept(T),
    Broken,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves `state` unless an answer is there, and returns whom to wake; waking under the lock would make the woken wait.
    fn settle(&self, state: State<T>) -> Option<Waker> {
        let mut slot = self.lock();
        match &mut *slot {
            State::Open(waker) => {
                let waker = waker.take();
                *slot = state;
                waker
            }
            State::Kept(_) | State::Broken => None,
        }
    }
}

impl<T> Promise<T> {
    /// Gives the answer.
    pub(super) fn keep(self, answer: T) {
        if let Some(waker) = self.give(answer) {
            waker.wake();
        }
    }

    /// Gives the answer, and returns whom to wake.
    pub(super) fn give(self, answer: T) -> Option<Waker> {
        self.0.settle(State::Kept(answer))
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(waker) = self.0.settle(State::Broken) {
            waker.wake();
        }
    }
}

impl<T> Future for Promised<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.0.lock();
        match &mut *slot {
            State::Open(Some(waker)) => waker.clone_from(cx.waker()),
            State::Open(none) => *none = Some(cx.waker().clone()),
            State::Kept(_) | State::Broken => {
                return match std::mem::replace(&mut *slot, State::Broken) {
                    State::Kept(answer) => Poll::Ready(Some(answer)),
                    _ => Poll::Ready(None),
                };
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::block_on;

    #[test]
    fn an_answer_from_another_thread_wakes_the_one_that_waits() {
        let (promise, promised) = promise();
        let thread = std::thread::spawn(move || promise.keep(7));
        assert_eq!(block_on(promised), Some(7));
        thread.join().unwrap();
    }

    #[test]
    fn a_dropped_promise_wakes_with_nothing() {
        let (promise, promised) = promise::<u8>();
        let thread = std::thread::spawn(move || drop(promise));
        assert_eq!(block_on(promised), None);
        thread.join().unwrap();
    }
}

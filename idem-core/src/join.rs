//! Many futures polled as one, each only when it was woken.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Futures and, in the same order, what they came to.
pub(crate) struct Join<F: Future> {
    children: Vec<Option<(F, Waker)>>,
    outputs: Vec<Option<F::Output>>,
    left: usize,
    woken: Arc<Woken>,
}

/// What a future panicked with.
pub(crate) type Panic = Box<dyn Any + Send>;

impl<F: Future> Join<F> {
    pub(crate) const fn woken(&self) -> &Arc<Woken> {
        &self.woken
    }

    /// How many have not ended.
    pub(crate) const fn len(&self) -> usize {
        self.left
    }

    /// Whether all have ended.
    pub(crate) const fn is_over(&self) -> bool {
        self.left == 0
    }

    /// What those came to that did not panic.
    pub(crate) fn take(&mut self) -> Vec<F::Output> {
        std::mem::take(&mut self.outputs).into_iter().flatten().collect()
    }

    /// Drops those that have not ended.
    pub(crate) fn abandon(&mut self) {
        self.children.clear();
    }
}

impl<F: Future + Unpin> Join<F> {
    /// All of them count as woken.
    pub(crate) fn new(futures: impl IntoIterator<Item = F>) -> Self {
        let woken = Arc::new(Woken::default());
        let waker = |index| Waker::from(Arc::new(Child { woken: woken.clone(), index }));
        let children: Vec<_> =
            futures.into_iter().enumerate().map(|(index, future)| Some((future, waker(index)))).collect();
        let left = children.len();
        woken.all(left);
        Self { outputs: children.iter().map(|_| None).collect(), children, left, woken }
    }

    /// Polls the one that was woken first, if any was. One that panics is dropped, and comes to nothing.
    pub(crate) fn poll_next(&mut self) -> Result<(), Panic> {
        let Some(index) = self.woken.next() else { return Ok(()) };
        let Some((mut future, waker)) = self.children[index].take() else { return Ok(()) };
        self.left -= 1;
        let polled = catch_unwind(AssertUnwindSafe(move || {
            match Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => {
                    drop(future);
                    Ok(output)
                }
                Poll::Pending => Err((future, waker)),
            }
        }));
        match polled? {
            Ok(output) => self.outputs[index] = Some(output),
            Err(child) => {
                self.children[index] = Some(child);
                self.left += 1;
            }
        }
        Ok(())
    }
}

impl<F: Future> Unpin for Join<F> {}

impl<F: Future + Unpin> Future for Join<F> {
    type Output = Vec<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.woken.begin(cx.waker());
        for _ in 0..self.woken.count() {
            self.poll_next().unwrap_or_else(|panic| resume_unwind(panic));
        }
        if self.is_over() {
            return Poll::Ready(self.take());
        }
        self.woken.end();
        Poll::Pending
    }
}

impl<F: Future> fmt::Debug for Join<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join")
            .field("of", &self.outputs.len())
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

/// Who was woken, and who polls them.
#[derive(Default)]
pub(crate) struct Woken(Mutex<State>);

#[derive(Default)]
struct State {
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    parent: Option<Waker>,
    /// Whether the parent is at work: it looks at the queue once more before it ends, and need not be woken.
    at_work: bool,
    /// Whether there is something else for the parent to do.
    roused: bool,
}

impl Woken {
    fn all(&self, count: usize) {
        let mut state = self.lock();
        state.queue = (0..count).collect();
        state.queued = vec![true; count];
    }

    /// The parent begins to work.
    pub(crate) fn begin(&self, waker: &Waker) {
        let mut state = self.lock();
        state.at_work = true;
        state.roused = false;
        match &mut state.parent {
            Some(parent) => parent.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// The parent waits. If there is more to do already, it is woken.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.at_work = false;
        if state.roused || !state.queue.is_empty() {
            wake(state);
        }
    }

    /// What the parent was roused for is done with what it does next.
    pub(crate) fn settle(&self) {
        self.lock().roused = false;
    }

    /// How many have been woken.
    pub(crate) fn count(&self) -> usize {
        self.lock().queue.len()
    }

    fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        let index = state.queue.pop_front()?;
        state.queued[index] = false;
        Some(index)
    }

    /// Wakes the parent for something else than its children.
    pub(crate) fn rouse(&self) {
        let mut state = self.lock();
        state.roused = true;
        wake(state);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    if state.at_work {
        return;
    }
    let parent = state.parent.take();
    // A waker may poll at once, on this thread.
    drop(state);
    if let Some(parent) = parent {
        parent.wake();
    }
}

struct Child {
    woken: Arc<Woken>,
    index: usize,
}

impl Wake for Child {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.woken.lock();
        if !std::mem::replace(&mut state.queued[self.index], true) {
            state.queue.push_back(self.index);
            wake(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, poll_fn, ready};
    use std::pin::pin;
    use std::rc::Rc;

    use super::*;
    use crate::Reply;
    use crate::store::block_on;

    #[test]
    fn lazy_replies_are_all_asked_before_the_first_is_answered() {
        let asked = Arc::new(Mutex::new(0));
        let lazy = |n: usize| {
            let (asked, mut first) = (asked.clone(), true);
            Reply::later(poll_fn(move |cx| {
                let mut asked = asked.lock().unwrap();
                *asked += usize::from(std::mem::take(&mut first));
                // As one that is answered only once the server has got the last.
                cx.waker().wake_by_ref();
                if *asked == 8 { Poll::Ready(Ok(n)) } else { Poll::Pending }
            }))
        };
        let all = Reply::all((0..8).map(lazy).collect());
        assert_eq!(block_on(all).unwrap(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn only_who_was_woken_is_polled_again() {
        let polls = Rc::new([const { Cell::new(0) }; 3]);
        let woken = Rc::new(Cell::new(None));
        let child = |n: usize| {
            let (polls, woken) = (polls.clone(), woken.clone());
            Box::pin(poll_fn(move |cx| {
                polls[n].set(polls[n].get() + 1);
                if n == 1 {
                    woken.set(Some(cx.waker().clone()));
                }
                if polls[n].get() == 2 { Poll::Ready(n) } else { Poll::Pending }
            }))
        };
        let mut join = pin!(Join::new((0..3).map(child)));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(join.as_mut().poll(&mut cx).is_pending());
        woken.take().unwrap().wake();
        assert!(join.as_mut().poll(&mut cx).is_pending());
        assert_eq!(polls.each_ref().map(Cell::get), [1, 2, 1]);
    }

    #[test]
    fn who_panics_is_dropped_and_the_others_go_on() {
        let futures: Vec<Pin<Box<dyn Future<Output = u8>>>> = vec![
            Box::pin(ready(1)),
            Box::pin(async { panic!("boom") }),
            Box::pin(ready(3)),
            Box::pin(pending()),
        ];
        let mut join = Join::new(futures);
        let panics = (0..4).filter(|_| join.poll_next().is_err()).count();
        assert_eq!((panics, join.left), (1, 1));
        assert_eq!(join.take(), [1, 3]);
    }
}

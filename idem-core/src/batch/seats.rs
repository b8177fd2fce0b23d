//! Who of a batch goes first, and how many bodies run at once.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use crate::RecordId;
use crate::store::StoreIdentity;

/// The calls of one batch, by record, and the turns of their bodies.
pub(super) struct Seats(Mutex<State>);

struct State {
    /// Bodies that may begin.
    free: usize,
    /// Who waits for that, in the order in which they were granted.
    queue: VecDeque<Weak<Seat>>,
    /// For each record that a call is about, the calls that come after it.
    records: HashMap<Record, VecDeque<Weak<Seat>>>,
}

type Record = (StoreIdentity, RecordId);

/// One call's. Of all that share a record, the first goes ahead and the others wait until it has ended: what this batch does
/// itself is never *in progress* for it. Dropped with the call.
pub(crate) struct Seat {
    seats: Arc<Seats>,
    record: Record,
    wait: Mutex<Wait>,
}

struct Wait {
    is_first: bool,
    turn: Turn,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    NotAsked,
    Queued,
    Has,
    Over,
}

impl Seats {
    /// For so many calls, and `limit` bodies at once.
    pub(super) fn new(calls: usize, limit: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            free: limit,
            queue: VecDeque::new(),
            records: HashMap::with_capacity(calls),
        })))
    }

    pub(super) fn sit(self: &Arc<Self>, record: Record) -> Arc<Seat> {
        let wait = Wait { is_first: true, turn: Turn::NotAsked, waker: None };
        let mut seat = Seat { seats: self.clone(), record, wait: Mutex::new(wait) };
        let mut state = self.lock();
        match state.records.get_mut(&record) {
            None => {
                state.records.insert(record, VecDeque::new());
                Arc::new(seat)
            }
            Some(after) => {
                seat.wait.get_mut().unwrap_or_else(PoisonError::into_inner).is_first = false;
                let seat = Arc::new(seat);
                after.push_back(Arc::downgrade(&seat));
                seat
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Waits until every earlier call about the same record has ended.
    pub(crate) fn poll_first(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut wait = self.lock();
        if wait.is_first { Poll::Ready(()) } else { wait.pending(cx) }
    }

    /// Waits until the body may begin.
    pub(crate) fn poll_turn(self: &Arc<Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.seats.lock();
        let mut wait = self.lock();
        match wait.turn {
            Turn::Has | Turn::Over => Poll::Ready(()),
            Turn::Queued => wait.pending(cx),
            Turn::NotAsked if state.free > 0 => {
                state.free -= 1;
                wait.turn = Turn::Has;
                Poll::Ready(())
            }
            Turn::NotAsked => {
                wait.turn = Turn::Queued;
                state.queue.push_back(Arc::downgrade(self));
                wait.pending(cx)
            }
        }
    }

    /// The body has ended, and another may begin.
    pub(crate) fn end_turn(&self) {
        let mut state = self.seats.lock();
        if std::mem::replace(&mut self.lock().turn, Turn::Over) == Turn::Has {
            let next = state.next_turn();
            drop(state);
            if let Some(seat) = next {
                seat.wake();
            }
        }
    }

    fn wake(self: Arc<Self>) {
        let waker = self.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Wait> {
        self.wait.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives a turn that is over to the one that has waited longest. Whom to wake must be dropped without the lock: it may be the
    /// last to hold its seat.
    fn next_turn(&mut self) -> Option<Arc<Seat>> {
        let Some(seat) = pop(&mut self.queue) else {
            self.free += 1;
            return None;
        };
        seat.lock().turn = Turn::Has;
        Some(seat)
    }

    /// Lets the next call about a record go ahead.
    fn next_of(&mut self, record: &Record) -> Option<Arc<Seat>> {
        let Some(seat) = self.records.get_mut(record).and_then(pop) else {
            self.records.remove(record);
            return None;
        };
        seat.lock().is_first = true;
        Some(seat)
    }
}

/// The first whose call has not ended.
fn pop(waiting: &mut VecDeque<Weak<Seat>>) -> Option<Arc<Seat>> {
    std::iter::from_fn(|| waiting.pop_front()).find_map(|seat| seat.upgrade())
}

impl Wait {
    fn pending(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let wait = self.wait.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (was_first, had_turn) = (wait.is_first, wait.turn == Turn::Has);
        let mut state = self.seats.lock();
        let next = [
            had_turn.then(|| state.next_turn()).flatten(),
            was_first.then(|| state.next_of(&self.record)).flatten(),
        ];
        drop(state);
        next.into_iter().flatten().for_each(Self::wake);
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("record", &self.record.1).finish_non_exhaustive()
    }
}

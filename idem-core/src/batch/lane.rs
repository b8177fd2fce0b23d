//! Operations of one kind on their way to a store: those that gather, and those under way.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::machine::{End, Ended, Recorded};
use crate::{StoreError, StoreErrorKind};

/// One round trip at a time: what comes while it is under way goes with the next one.
pub(super) struct Lane<Q, A>(Mutex<State<Q, A>>);

struct State<Q, A> {
    gathered: Vec<(usize, Q)>,
    road: Road<A>,
    /// Answers that are owed, by the number on their tickets.
    slots: Vec<Slot<A>>,
    free: Vec<usize>,
    closed: bool,
}

enum Road<A> {
    Free,
    /// Somebody looks at the trip that is under way.
    Taken,
    Trip(Trip<A>),
}

struct Trip<A> {
    slots: Vec<usize>,
    answers: Answers<A>,
}

/// One answer for each operation of a trip, in order.
pub(super) type Answers<A> = Pin<Box<dyn Future<Output = Vec<Result<A, StoreError>>> + Send>>;

enum Slot<A> {
    Free,
    Owed(Option<Waker>),
    Answered(Result<A, StoreError>),
    /// Nobody waits; the operation goes its way all the same.
    Abandoned,
}

impl<Q, A> Lane<Q, A> {
    /// With room for so many operations.
    pub(super) fn new(operations: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            gathered: Vec::with_capacity(operations),
            road: Road::Free,
            slots: Vec::with_capacity(operations),
            free: Vec::new(),
            closed: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State<Q, A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an operation to the next trip; `None` if there will be no more.
    pub(super) fn add<T>(self: &Arc<Self>, operation: Q) -> Option<Ticket<T>>
    where
        Self: Owes<T> + 'static,
    {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let slot = state.free.pop().unwrap_or_else(|| {
            state.slots.push(Slot::Free);
            state.slots.len() - 1
        });
        state.slots[slot] = Slot::Owed(None);
        state.gathered.push((slot, operation));
        Some(Ticket { lane: self.clone(), slot: Some(slot) })
    }

    /// Lets nothing more in. What is in goes on.
    pub(super) fn close(&self) {
        self.lock().closed = true;
    }

    /// Whether nothing gathers and nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.gathered.is_empty() && matches!(state.road, Road::Free)
    }

    /// Looks at what is under way, and once nothing is, sends what has gathered.
    pub(super) fn advance(&self, cx: &mut Context<'_>, send: impl Fn(Vec<Q>) -> Answers<A>) {
        while let Some(mut trip) = self.take(&send) {
            match catch_unwind(AssertUnwindSafe(|| trip.answers.as_mut().poll(cx))) {
                Ok(Poll::Pending) => {
                    self.lock().road = Road::Trip(trip);
                    return;
                }
                Ok(Poll::Ready(answers)) => self.arrive(trip.slots, answers),
                Err(panic) => {
                    // Nobody may be left waiting.
                    self.arrive(trip.slots, Vec::new());
                    resume_unwind(panic);
                }
            }
        }
    }

    fn take(&self, send: &impl Fn(Vec<Q>) -> Answers<A>) -> Option<Trip<A>> {
        let mut state = self.lock();
        match std::mem::replace(&mut state.road, Road::Taken) {
            Road::Trip(trip) => Some(trip),
            Road::Taken => None,
            Road::Free if state.gathered.is_empty() => {
                state.road = Road::Free;
                None
            }
            Road::Free => {
                let (slots, operations) = std::mem::take(&mut state.gathered).into_iter().unzip();
                drop(state);
                Some(Trip { slots, answers: send(operations) })
            }
        }
    }

    fn arrive(&self, slots: Vec<usize>, answers: Vec<Result<A, StoreError>>) {
        let mut answers = answers.into_iter();
        let mut wakers = Vec::with_capacity(slots.len());
        let mut state = self.lock();
        for slot in slots {
            let answer = answers.next().unwrap_or_else(|| Err(unanswered()));
            match std::mem::replace(&mut state.slots[slot], Slot::Answered(answer)) {
                Slot::Owed(waker) => wakers.extend(waker),
                _ => state.vacate(slot),
            }
        }
        state.road = Road::Free;
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl<Q, A> State<Q, A> {
    fn vacate(&mut self, slot: usize) {
        self.slots[slot] = Slot::Free;
        self.free.push(slot);
    }
}

fn unanswered() -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, "the store panicked before it answered a batch")
}

fn of_another_kind() -> StoreError {
    StoreError::new(
        StoreErrorKind::Corrupt,
        "the store answered an end in a batch as if it were of another kind",
    )
}

/// What the answer to one operation is exchanged for. A reply holds it as it is: a box for each would be one allocation more.
pub(crate) struct Ticket<A> {
    lane: Arc<dyn Owes<A>>,
    /// `None` once it is exchanged.
    slot: Option<usize>,
}

/// A lane, as those see it who wait for an answer.
pub(super) trait Owes<A>: Send + Sync {
    fn poll(&self, slot: usize, cx: &mut Context<'_>) -> Poll<Result<A, StoreError>>;
    fn abandon(&self, slot: usize);
}

impl<Q: Send, A: Send> Owes<A> for Lane<Q, A> {
    fn poll(&self, slot: usize, cx: &mut Context<'_>) -> Poll<Result<A, StoreError>> {
        let mut state = self.lock();
        if let Slot::Owed(waker) = &mut state.slots[slot] {
            match waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            return Poll::Pending;
        }
        let found = std::mem::replace(&mut state.slots[slot], Slot::Free);
        state.free.push(slot);
        match found {
            Slot::Answered(answer) => Poll::Ready(answer),
            _ => Poll::Ready(Err(unanswered())),
        }
    }

    fn abandon(&self, slot: usize) {
        let mut state = self.lock();
        match state.slots[slot] {
            Slot::Owed(_) => state.slots[slot] = Slot::Abandoned,
            _ => state.vacate(slot),
        }
    }
}

/// Ends have answers of one type, and who records a result waits for that of its kind.
impl Owes<Recorded> for Lane<End, Ended> {
    fn poll(&self, slot: usize, cx: &mut Context<'_>) -> Poll<Result<Recorded, StoreError>> {
        Owes::<Ended>::poll(self, slot, cx).map(|ended| match ended? {
            Ended::Recorded(recorded) => Ok(recorded),
            Ended::Released(_) => Err(of_another_kind()),
        })
    }

    fn abandon(&self, slot: usize) {
        Owes::<Ended>::abandon(self, slot);
    }
}

impl<A> Future for Ticket<A> {
    type Output = Result<A, StoreError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let slot = self.slot.expect("a ticket is exchanged once");
        let polled = self.lane.poll(slot, cx);
        if polled.is_ready() {
            self.slot = None;
        }
        polled
    }
}

impl<A> Drop for Ticket<A> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.lane.abandon(slot);
        }
    }
}

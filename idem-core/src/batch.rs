//! Many messages at once: one round trip claims them, one records what they came to, whatever that was.
//!
//! A batch is one future that polls the calls of handlers as they are. While it does, a call finds the batch by its thread,
//! takes a seat in it, and speaks to its store through a [`Gathering`](gathering::Gathering): claims and ends wait there
//! until every call that can go on has gone on, and then go in one round trip. Whatever comes while one is under way goes with
//! the next. So the calls know nothing of each other, and all that the driver does about lost answers, late grants and dropped
//! futures holds in a batch too.

use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::join::{Join, Panic};

mod entry;
mod gathering;
mod lane;
mod scope;
mod seats;
mod shared;

pub use entry::BatchEntry;
#[cfg(feature = "conformance")]
pub(crate) use gathering::Gathering;
pub(crate) use lane::Ticket;
pub(crate) use scope::{is_inside, join, leave};
pub(crate) use seats::Seat;
use shared::Shared;

/// Runs calls of idempotent handlers as a batch: as if each were awaited by itself, but claimed in one round trip and ended in
/// one. Results come in the order of the calls.
///
/// At most `limit` bodies run at once (0 counts as 1), all on the caller's task. For bodies that keep a processor busy, spawn
/// within the body. All calls are held until the batch has ended, so give it what the queue hands out at once, not the whole queue.
///
/// ```
/// # extern crate idem_core as idem;
/// # use std::{future::Future, pin::pin, task::{Context, Waker}};
/// # use idem::{Error, Handler, Idempotent, Key, MemoryStore};
/// # let store = MemoryStore::new();
/// # let charges = Idempotent::new(&store, Handler::new("billing.charge"));
/// # let charge = async |payment: &u32| -> Result<u32, Error> {
/// #     let key = Key::trusted(format!("msg:{payment}"), "an example's")?;
/// #     charges.run(&key, || async { Ok::<_, Error>(*payment) }).await.map(|outcome| outcome.into_value())
/// # };
/// # let payments = [12, 7, 12];
/// # let consume = async {
/// // `charge` is an `async fn` under `#[idempotent(key = "msg:<payment.id>")]`.
/// let results = idem::batch(payments.iter().map(charge), 16).await;
/// for (payment, result) in payments.iter().zip(results) {
///     // Acknowledge it, or what `error.disposition()` says.
/// #   assert_eq!(result.unwrap(), *payment);
/// }
/// # };
/// # let mut consume = pin!(consume);
/// # while consume.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
/// ```
///
/// A call may be any future that awaits handlers: what comes before and after the handler runs beside the others. To acknowledge
/// each message as soon as its result is recorded, and not when the last one is, say so in the call:
///
/// ```text
/// idem::batch(deliveries.iter().map(async |delivery| settle(delivery, charge(&delivery.payment).await).await), 16).await;
/// ```
///
/// # What gathers
///
/// - **Claims.** All calls ask before the first body begins. If the store does not answer, each call gets that error, and nothing
///   has run. An error that may be about one record alone (damaged, no room) is not taken for all: each is then asked by itself.
/// - **Ends**: results, errors that are remembered, and claims that go back after an error. Each is sent as soon as every call that was
///   woken has gone on, together with all others that are there, unless a round trip is under way: then with the next one. So
///   whatever quick bodies came to is recorded in one round trip, or in one for every 16 MiB of it, and a result never waits for a
///   slow body. It does wait for bodies that do not yield, for ten milliseconds and the one that runs then. If the worker is killed
///   meanwhile, what had ended and was not sent runs again.
/// - **Everything else** goes by itself: renewals, which may not wait for a body that does not yield, and claims that go back after a
///   panic or because their calls were dropped. Plain `fn` handlers and handlers that are called by a body do not take part. Calls
///   on several stores gather for each store; see [`Store::identity`](crate::Store::identity).
///
/// # Messages that wait
///
/// A message that is claimed and waits for its turn is renewed, for up to its handler's `max_hold`; then it is given back, and
/// answered as [`InProgress`](crate::ErrorKind::InProgress). Of two calls with one key the second waits until the first has ended, and
/// is then answered by the store: with the first one's result, or, if that gave the message back, by another attempt.
///
/// # Time limits
///
/// A limit on one message belongs in its body, where it ends in an error and gives the claim back. One around the call counts the wait
/// for a turn too: where a body hangs, all that wait behind it run out of time at once. And what it cuts off midway keeps its claim to
/// the end of the lease. A body that never ends keeps the batch from ending.
///
/// # Panics
///
/// If a body panics, its claim is given back and all other calls go on to their ends; then the panic resumes, as in
/// [`std::thread::scope`]. A second one is dropped.
///
/// # Cancellation
///
/// Dropped midway, each call leaves behind what it would have left alone: results that are there are recorded in the background,
/// claims whose body was running stay until their lease ends, and claims whose body had not begun are given back.
pub fn batch<C>(calls: C, limit: usize) -> Batch<<C as IntoIterator>::Item>
where
    C: IntoIterator,
    C::Item: Future,
{
    let join = Join::new(calls.into_iter().map(Box::pin));
    let shared = Shared::new(join.len(), limit.max(1), join.woken().clone());
    Batch { join, shared, panic: None }
}

/// The future of [`batch`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Batch<F: Future> {
    join: Join<Pin<Box<F>>>,
    shared: Arc<Shared>,
    panic: Option<Panic>,
}

/// For how long one poll goes on with calls before results are sent and others on the executor have their turn.
const TURN: Duration = Duration::from_millis(10);

impl<F: Future> Future for Batch<F> {
    type Output = Vec<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { join, shared, panic } = self.get_mut();
        join.woken().begin(cx.waker());
        {
            let _scope = scope::enter(Some(shared.clone()));
            let began = shared.clock().map(|clock| (clock.now(), clock));
            // Those that are woken meanwhile have the next poll, so that a future which wakes itself keeps nobody waiting.
            for _ in 0..join.woken().count() {
                if let Err(caught) = join.poll_next() {
                    panic.get_or_insert(caught);
                }
                if began.as_ref().is_some_and(|(began, clock)| clock.now().since(*began) >= TURN) {
                    break;
                }
            }
        }
        join.woken().settle();
        shared.advance(cx);
        if !join.is_over() {
            join.woken().end();
            return Poll::Pending;
        }
        shared.close();
        match panic.take() {
            Some(caught) => resume_unwind(caught),
            None => Poll::Ready(join.take()),
        }
    }
}

impl<F: Future> Drop for Batch<F> {
    fn drop(&mut self) {
        // The calls first: what they leave to the background is what has to be driven there, also if one panics as it is dropped.
        let _close = Close(&self.shared);
        self.join.abandon();
    }
}

struct Close<'s>(&'s Shared);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<F: Future> fmt::Debug for Batch<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("calls", &self.join).finish_non_exhaustive()
    }
}

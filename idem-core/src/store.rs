//! The contract between the driver and what keeps its records.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::batch::Ticket;
use crate::clock::{Clock, Timestamp};
use crate::join::Join;
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use crate::{RecordId, StoreError, Token, background};

#[cfg(feature = "memory")]
mod index;
#[cfg(feature = "memory")]
pub(crate) mod memory;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(feature = "redis")]
pub(crate) mod redis;
#[cfg(feature = "memory")]
pub(crate) mod seen;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;
#[cfg(any(feature = "sqlite", feature = "sqlx-sqlite"))]
pub(crate) mod sqlite_record;
#[cfg(feature = "sqlx-sqlite")]
mod sqlx_sqlite;

pub mod class;
mod handle;
mod identity;
mod key_only;
mod pointer;
#[cfg(any(feature = "postgres", feature = "redis"))]
mod worker;

pub(crate) use handle::StoreRef;
pub use handle::{StoreHandle, ToStoreHandle, TypedStore, UnclassedStore};
pub use identity::StoreIdentity;
pub use key_only::KeyOnly;
#[cfg(any(feature = "postgres", feature = "redis"))]
pub(crate) use worker::{blocking, waits_within_a_runtime};

/// Where records live.
///
/// # Contract
///
/// 1. Each operation is **one atomic step** on one record, and answers and changes what
///    [`machine::decide`](crate::machine::decide) does on the record found at the store's own now.
/// 2. Sent again with the same token, an operation gives the same answer and changes nothing further.
/// 3. Who writes is decided by the token alone: `renew`, `complete`, `fail` and `release` change nothing that is not held by it.
/// 4. Fences of one record grow in the order of its grants, across deletion and restart.
/// 5. "No answer" is a [`StoreError`] and never a verdict. After [`Unavailable`](crate::StoreErrorKind::Unavailable) the driver sends the
///    same operation again, with the same token.
/// 6. An operation takes effect even if its [`Reply`] is dropped, or not at all; never half.
/// 7. Live claims are never evicted. A store that is full of them refuses with [`Full`](crate::StoreErrorKind::Full).
/// 8. Every reply comes, with an answer or an error, within a time that leaves room for another try before a lease ends: a
///    renewal that is never answered would be the last one. (No check can prove it.)
///
/// Methods return a [`Reply`] at once: a store in memory answers in place, one behind a disk or a network later. That keeps the
/// trait usable as `dyn Store`, costs in-process stores no allocation, and lets plain `fn` handlers wait without a runtime.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "records cannot live here",
    note = "a store implements `idem::Store`, as `idem::MemoryStore` and `idem::SqliteStore` do"
)]
pub trait Store: Send + Sync + 'static {
    /// A handle to this same store that outlives the borrow: for renewals, and for completions whose caller went away.
    fn handle(&self) -> Arc<dyn Store>;

    /// What survives what; see [`StoreClass`].
    fn class(&self) -> StoreClass;

    /// The clock that the store decides by. The driver times renewals and waiting by it.
    fn clock(&self) -> Clock;

    /// Tells this store from all others of the process: what goes to one store can go in one batch. By default it
    /// is where the store lies in memory. A store whose handles lie elsewhere says what they share, or each is taken for a store of its
    /// own.
    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(self)
    }

    /// Asks for the right to run.
    fn claim(&self, claim: &Claim) -> Reply<Verdict>;

    /// Asks as [`claim`](Store::claim) does, and writes down when: an instant of the store's clock that is not after the one by
    /// which it decides, since the driver counts the lease from there.
    ///
    /// By default the clock is read before the claim is sent. A store that decides in place writes down the instant by which it
    /// does, which spares a reading. (Not returned beside the reply, most of which is room for a body: it would be moved.)
    fn claim_at(&self, claim: &Claim, asked_at: &mut Timestamp) -> Reply<Verdict> {
        *asked_at = self.clock().now();
        self.claim(claim)
    }

    /// Asks for many at once, in as few round trips as the store can; one verdict for each claim, in order. Of two equal keys
    /// the second is judged after the first. An error says nothing about any of them: some may have been granted, as those before
    /// the one for which there was no room. Sent again with its token, such a claim is granted as it was.
    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>>;

    /// Extends a lease, counted from the store's now.
    fn renew(&self, renewal: &Renewal) -> Reply<Renewed>;

    /// Records success.
    fn complete(&self, completion: &Completion) -> Reply<Recorded>;

    /// Records an error worth remembering.
    fn fail(&self, completion: &Completion) -> Reply<Recorded>;

    /// Gives a claim back, so that the next delivery runs at once.
    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released>;

    /// Ends many attempts at once, whatever their bodies came to, in as few round trips as the store can; one answer for each, in
    /// order and of its kind. Of two for one record the second is judged after the first. An error says nothing about any of them: all
    /// are sent again. By default each is sent by itself, before the first is waited for.
    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        Reply::all(ends.iter().map(|end| end_one(self, end)).collect())
    }

    /// Deletes a record on an operator's word; a live claim only with `force`. It has no token, so it is not sent again after a reply was
    /// lost: the error leaves open whether it was done.
    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten>;

    /// Looks at a record.
    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>>;

    /// Deletes up to `limit` records whose end has passed; returns how many.
    fn sweep(&self, limit: usize) -> Reply<u64>;

    /// Says that the body of a claim was dropped midway, in this process. Changes nothing by default: children that the body
    /// spawned may still be at work, so the claim is left to its lease.
    fn dropped(&self, id: &RecordId, token: &Token) {
        let _ = (id, token);
    }

    /// Whether a thread may block until a [`Reply`] of this store is there. A store that needs an async runtime on the same
    /// thread says no, and handlers that are plain `fn`s are refused at their first call.
    fn can_block(&self) -> bool {
        true
    }

    /// Drives `task` to its end without a caller. By default on idem's own background thread; a store whose I/O belongs to a
    /// runtime spawns it there.
    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        background::spawn(task);
    }
}

/// Sends one end by itself.
pub(crate) fn end_one(store: &(impl Store + ?Sized), end: &End) -> Reply<Ended> {
    match end {
        End::Complete(completion) => store.complete(completion).map(Ended::Recorded),
        End::Fail(completion) => store.fail(completion).map(Ended::Recorded),
        End::Release { id, token } => store.release(id, token).map(Ended::Released),
    }
}

impl fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("class", &self.class()).finish_non_exhaustive()
    }
}

/// What a store survives, from weakest to strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StoreClass {
    /// Nothing: it ends with the process.
    Volatile,
    /// A restart of the process, but acknowledged writes can be lost (failover, eviction).
    Lossy,
    /// Power loss.
    Durable,
    /// Power loss, and a record can commit together with the handler's own rows.
    Transactional,
}

/// A store whose class is known at compile time, so that `require = "durable"` can be checked there.
pub trait Classed: Store {
    /// The class, as a type; [`Unknown`](class::Unknown) if only the value knows.
    type Class: class::Rank;
    /// The class; `None` if only the value knows.
    const CLASS: Option<StoreClass> = <Self::Class as class::Rank>::CLASS;
}

/// The answer of a store: there at once, or later. Await it, or [`wait`](Reply::wait) for it.
#[must_use = "a reply does nothing unless it is awaited or waited for"]
pub struct Reply<T>(State<T>);

enum State<T> {
    Ready(Option<Result<T, StoreError>>),
    Later(Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>),
    /// With those of others, in a batch.
    Owed(Ticket<T>),
}

impl<T> Reply<T> {
    /// An answer that is there.
    #[inline]
    pub const fn ready(answer: Result<T, StoreError>) -> Self {
        Self(State::Ready(Some(answer)))
    }

    /// An answer that comes with `future`.
    pub fn later(future: impl Future<Output = Result<T, StoreError>> + Send + 'static) -> Self {
        Self(State::Later(Box::pin(future)))
    }

    /// An answer that a batch owes.
    pub(crate) const fn owed(ticket: Ticket<T>) -> Self {
        Self(State::Owed(ticket))
    }

    /// The answers of all, in order, or the first error among them. All are asked at once, and heard to their ends.
    pub fn all(replies: Vec<Self>) -> Reply<Vec<T>>
    where
        T: Send + 'static,
    {
        if replies.iter().all(|reply| reply.peek().is_some()) {
            return Reply::ready(replies.into_iter().map(Reply::wait).collect());
        }
        let replies = Join::new(replies);
        Reply::later(async move { replies.await.into_iter().collect() })
    }

    /// The answer, if it is there; `None` if it comes later, or was given.
    ///
    /// To look at a verdict where it is costs less than to move it out: most of its bytes are room for a body.
    #[inline]
    pub const fn peek(&self) -> Option<&Result<T, StoreError>> {
        match &self.0 {
            State::Ready(answer) => answer.as_ref(),
            State::Later(_) | State::Owed(_) => None,
        }
    }

    /// Blocks the thread until the answer is there.
    ///
    /// # Errors
    /// The store's.
    ///
    /// # Panics
    /// If the reply was polled to its end before.
    #[inline]
    pub fn wait(self) -> Result<T, StoreError> {
        match self.0 {
            State::Ready(answer) => answer.expect(TAKEN),
            State::Later(future) => block_on(future),
            State::Owed(ticket) => block_on(ticket),
        }
    }

    /// Turns the answer into another.
    ///
    /// # Panics
    /// If the reply was polled to its end before.
    pub fn map<U>(self, with: impl FnOnce(T) -> U + Send + 'static) -> Reply<U>
    where
        T: 'static,
    {
        match self.0 {
            State::Ready(answer) => Reply::ready(answer.expect(TAKEN).map(with)),
            State::Later(future) => Reply::later(async move { future.await.map(with) }),
            State::Owed(ticket) => Reply::later(async move { ticket.await.map(with) }),
        }
    }
}

const TAKEN: &str = "a reply gives its answer once";

/// What a reply came to at a first look.
pub(crate) enum Looked<T> {
    There(Result<T, StoreError>),
    Pending(Reply<T>),
}

impl<T> Reply<T> {
    /// Takes the answer if it is there, without a waker.
    #[inline]
    pub(crate) fn look(self) -> Looked<T> {
        match self.0 {
            State::Ready(answer) => Looked::There(answer.expect(TAKEN)),
            later => Looked::Pending(Self(later)),
        }
    }
}

impl<T> Unpin for Reply<T> {}

impl<T> Future for Reply<T> {
    type Output = Result<T, StoreError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Ready(answer) => Poll::Ready(answer.take().expect(TAKEN)),
            State::Later(future) => future.as_mut().poll(cx),
            State::Owed(ticket) => Pin::new(ticket).poll(cx),
        }
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "Reply::Ready",
            State::Later(_) | State::Owed(_) => "Reply::Later",
        })
    }
}

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Whether the future that is polled now belongs to a thread that waits for nothing else, so that it may do the work itself
/// instead of handing it to another thread.
#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
pub(crate) fn may_block() -> bool {
    MAY_BLOCK.get()
}

/// Polls `future` on this thread, parked in between.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Blocking(bool);
    impl Drop for Blocking {
        fn drop(&mut self) {
            MAY_BLOCK.set(self.0);
        }
    }
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        let outer = Blocking(MAY_BLOCK.replace(true));
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        drop(outer);
        if let Poll::Ready(output) = polled {
            return output;
        }
        std::thread::park();
    }
}

/// A future that ends once `delay` has passed on `clock`.
pub(crate) fn sleep(clock: &Clock, delay: Duration) -> Sleep {
    let shared = Arc::new(std::sync::Mutex::new(Alarm { rung: false, waker: None }));
    let alarm = shared.clone();
    clock.after(delay, move || {
        let mut alarm = alarm.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        alarm.rung = true;
        let waker = alarm.waker.take();
        // A waker may poll at once, on this thread.
        drop(alarm);
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    Sleep(shared)
}

/// See [`sleep`].
pub(crate) struct Sleep(Arc<std::sync::Mutex<Alarm>>);

pub(crate) struct Alarm {
    rung: bool,
    waker: Option<Waker>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut alarm = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if alarm.rung {
            return Poll::Ready(());
        }
        alarm.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

//! A lease as its owner sees it: renewed in the background, and lost at one known instant.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::clock::{Clock, Due, micros};
use crate::machine::{Renewal, Renewed};
use crate::store::{Looked, Reply, StoreHandle};
use crate::{RecordId, StoreError, Timestamp, Token};

/// What the owner knows of its lease. Shared by the attempt, its renewals and whoever waits for its loss.
pub(crate) struct Lease {
    clock: Clock,
    /// The end, in microseconds of the store's clock, counted from *before* the claim or renewal was sent, or from after its answer
    /// if the clock was set back meanwhile.
    until: AtomicU64,
    lost: AtomicBool,
    /// Whether a timer waits for the end: one is enough for all who wait.
    watched: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Lease {
    pub(crate) fn new(clock: Clock, until: Timestamp) -> Arc<Self> {
        Arc::new(Self {
            clock,
            until: AtomicU64::new(until.as_micros()),
            lost: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            wakers: Mutex::default(),
        })
    }

    /// Whether another attempt may own the record by now. At the very end of the lease it may, on both sides.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire) || self.until() <= self.clock.now()
    }

    fn until(&self) -> Timestamp {
        Timestamp::from_micros(self.until.load(Ordering::Acquire))
    }

    /// The lease that the store has just granted, of which nobody knows whether it counts from when it was asked or from now. After
    /// the clock was set back, it ends before the one that it prolongs.
    fn renewed(&self, sent: Timestamp, term: Duration) {
        let until = sent.min(self.clock.now()).after(term);
        self.until.store(until.as_micros(), Ordering::Release);
    }

    fn lose(&self) {
        self.lost.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        let wakers = std::mem::take(&mut *self.wakers.lock().unwrap_or_else(PoisonError::into_inner));
        for waker in wakers {
            waker.wake();
        }
    }

    /// Wakes whoever waits once the lease has run out, if nothing extends it before.
    fn watch(self: &Arc<Self>) {
        if !self.watched.swap(true, Ordering::AcqRel) {
            let lease = Arc::downgrade(self);
            self.clock.call(self.until().since(self.clock.now()), lease);
        }
    }
}

impl Due for Lease {
    fn due(self: Arc<Self>) {
        // Before the look: who comes after it finds a lost lease, or starts a timer of its own.
        self.watched.store(false, Ordering::Release);
        if self.is_lost() { self.wake() } else { self.watch() }
    }
}

/// Ends once the lease is lost; see [`Attempt::lost`](crate::Attempt::lost).
pub(crate) struct Lost(Arc<Lease>);

impl Lost {
    pub(crate) fn of(lease: Arc<Lease>) -> Self {
        Self(lease)
    }
}

impl Future for Lost {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        {
            let mut wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
            if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                wakers.push(cx.waker().clone());
            }
        }
        // Looked at after the waker is in place, so that no loss falls in between.
        if self.0.is_lost() {
            return Poll::Ready(());
        }
        self.0.watch();
        Poll::Pending
    }
}

/// Renews a lease for as long as it lives; dropping it stops the renewals.
pub(crate) struct Renewals(#[allow(dead_code, reason = "held for its lifetime alone")] Arc<Renewer>);

struct Renewer {
    store: StoreHandle,
    id: RecordId,
    token: Token,
    term: Duration,
    /// When a body that hangs stops being renewed.
    hold_until: Timestamp,
    /// The same in microseconds of time that has passed, whatever was done to the clock.
    max_hold: u64,
    waited: AtomicU64,
    lease: Arc<Lease>,
}

impl Renewals {
    /// Starts renewing, until `max_hold` from now: once a third of `term` is used up, which may be at once.
    pub(crate) fn start(
        store: StoreHandle,
        (id, token): (RecordId, Token),
        (term, max_hold): (Duration, Duration),
        lease: Arc<Lease>,
    ) -> Self {
        let now = lease.clock.now();
        // On the clock, which ends before the longest of durations does.
        let (whole, left) = (now.after(term).since(now), lease.until().since(now));
        let first = left.saturating_sub(whole / 3 * 2);
        let hold_until = now.after(max_hold);
        let (max_hold, waited) = (micros(max_hold), AtomicU64::new(0));
        let renewer = Arc::new(Renewer { store, id, token, term, hold_until, max_hold, waited, lease });
        Renewer::schedule(&renewer, first);
        Self(renewer)
    }
}

/// The shortest time between two renewals, so that a lease of next to nothing keeps no thread busy.
const SHORTEST: Duration = Duration::from_millis(1);

impl Renewer {
    fn schedule(this: &Arc<Self>, delay: Duration) {
        // A few per cent earlier, differently for each attempt, so that claims made at once are not renewed at once.
        let early = delay / 20 / 256 * u32::from(this.token.as_bytes()[0]);
        let renewer = Arc::downgrade(this);
        let delay = delay.saturating_sub(early).max(SHORTEST);
        this.waited.fetch_add(micros(delay), Ordering::Relaxed);
        this.lease.clock.call(delay, renewer);
    }

    fn renew(this: &Arc<Self>) {
        let sent = this.lease.clock.now();
        let held_long_enough =
            this.hold_until <= sent || this.max_hold <= this.waited.load(Ordering::Relaxed);
        if this.lease.lost.load(Ordering::Acquire) || held_long_enough {
            return;
        }
        let reply = this.store.renew(&Renewal { id: this.id, token: this.token, lease: this.term });
        match reply.look() {
            Looked::There(answer) => Self::hear(this, sent, &answer),
            Looked::Pending(reply) => {
                this.store.spawn(Box::pin(Self::listen(Arc::downgrade(this), sent, reply)));
            }
        }
    }

    async fn listen(this: Weak<Self>, sent: Timestamp, reply: Reply<Renewed>) {
        let answer = reply.await;
        if let Some(this) = this.upgrade() {
            Self::hear(&this, sent, &answer);
        }
    }

    fn hear(this: &Arc<Self>, sent: Timestamp, answer: &Result<Renewed, StoreError>) {
        match answer {
            Ok(Renewed::Renewed { .. }) => {
                this.lease.renewed(sent, this.term);
                Self::schedule(this, this.term / 3);
            }
            Ok(Renewed::Lost(_)) => this.lease.lose(),
            // Unknown is not lost: ask again soon, with the same token.
            Err(_) => Self::schedule(this, this.term / 10),
        }
    }
}

impl Due for Renewer {
    fn due(self: Arc<Self>) {
        Self::renew(&self);
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("lost", &self.is_lost()).finish_non_exhaustive()
    }
}

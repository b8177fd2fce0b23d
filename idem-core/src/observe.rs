//! Counters: nothing is skipped, lost or left unrecorded in silence.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// An event that is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Executed,
    Replayed,
    Skipped,
    Refused,
    InProgress,
    Mismatch,
    Lapsed,
    Spent,
    Lost,
    Released,
    Superseded,
    Recreated,
    Unrecorded,
    NotKept,
    Unreadable,
    Unavailable,
}

const EVENTS: usize = 16;
/// Threads count in stripes of their own, so that two cores do not fight over one cache line.
const STRIPES: usize = 16;

#[repr(align(128))]
struct Stripe([AtomicU64; EVENTS]);

static COUNTS: [Stripe; STRIPES] = [const { Stripe([const { AtomicU64::new(0) }; EVENTS]) }; STRIPES];

#[inline]
pub(crate) fn count(event: Event) {
    thread_local! {
        static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let stripe = STRIPE.with(|stripe| {
        if stripe.get() == usize::MAX {
            stripe.set(NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES);
        }
        stripe.get()
    });
    COUNTS[stripe].0[event as usize].fetch_add(1, Ordering::Relaxed);
}

/// How often each thing happened in this process, over all handlers, since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Bodies that ran to their end and returned `Ok`.
    pub executed: u64,
    /// Results handed back without a run.
    pub replayed: u64,
    /// Runs that a seen set saved without asking the store.
    pub skipped: u64,
    /// Stored errors handed back without a run.
    pub refused: u64,
    /// Deliveries told to come back, because another attempt was running.
    pub in_progress: u64,
    /// Deliveries whose key was known with another payload.
    pub mismatch: u64,
    /// Messages parked because a holder fell silent, and takeovers of such messages.
    pub lapsed: u64,
    /// Messages parked because they were tried too often.
    pub spent: u64,
    /// At-most-once messages that may be lost: a holder fell silent, and they were not run again.
    pub lost: u64,
    /// Claims given back after an error or a panic.
    pub released: u64,
    /// Successes of an attempt that another had overtaken. Each is a probable second effect, and somebody should look.
    pub superseded: u64,
    /// Successes whose record had vanished and was made anew.
    pub recreated: u64,
    /// Successes that the store could not be told of.
    pub unrecorded: u64,
    /// Successes recorded without their result: too large, or not serializable.
    pub not_kept: u64,
    /// Stored results that could not be read back.
    pub unreadable: u64,
    /// Claims that the store did not answer.
    pub unavailable: u64,
}

/// Reads the counters of this process.
pub fn counters() -> Counters {
    let total =
        |event: Event| COUNTS.iter().map(|stripe| stripe.0[event as usize].load(Ordering::Relaxed)).sum();
    Counters {
        executed: total(Event::Executed),
        replayed: total(Event::Replayed),
        skipped: total(Event::Skipped),
        refused: total(Event::Refused),
        in_progress: total(Event::InProgress),
        mismatch: total(Event::Mismatch),
        lapsed: total(Event::Lapsed),
        spent: total(Event::Spent),
        lost: total(Event::Lost),
        released: total(Event::Released),
        superseded: total(Event::Superseded),
        recreated: total(Event::Recreated),
        unrecorded: total(Event::Unrecorded),
        not_kept: total(Event::NotKept),
        unreadable: total(Event::Unreadable),
        unavailable: total(Event::Unavailable),
    }
}

//! Counters: nothing is skipped, lost or left unrecorded in silence.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An event that is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Executed,
    Replayed,
    Skipped,
    Refused,
    InProgress,
    Mismatch,
    Keyless,
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

const EVENTS: usize = 17;

/// Two cores never write one cache line, nor the pair of lines that the prefetcher fetches.
#[repr(align(128))]
struct Counts([AtomicU64; EVENTS]);

impl Counts {
    const fn none() -> Self {
        Self([const { AtomicU64::new(0) }; EVENTS])
    }

    fn of(&self, event: Event) -> &AtomicU64 {
        &self.0[event as usize]
    }
}

/// What the threads that live have counted, each for itself.
static LIVING: Mutex<Vec<Arc<Counts>>> = Mutex::new(Vec::new());
/// What the threads that are gone had counted.
static GONE: Counts = Counts::none();

fn living() -> MutexGuard<'static, Vec<Arc<Counts>>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of one thread, which nobody else writes: to add one is a load and a store, where an addition that several
/// threads may do at once would make the processor wait for all that it has under way.
struct Mine(Arc<Counts>);

impl Mine {
    fn begin() -> Self {
        let mine = Arc::new(Counts::none());
        living().push(mine.clone());
        Self(mine)
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        let mut living = living();
        living.retain(|counts| !Arc::ptr_eq(counts, &self.0));
        // Under the lock, so that a reader finds each count in one of the two places.
        for (gone, mine) in GONE.0.iter().zip(&self.0.0) {
            gone.fetch_add(mine.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[inline]
pub(crate) fn count(event: Event) {
    thread_local! {
        static MINE: Mine = Mine::begin();
    }
    let counted = MINE.try_with(|mine| {
        let count = mine.0.of(event);
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    if counted.is_err() {
        // The thread is at its end, and its counts have been taken in.
        GONE.of(event).fetch_add(1, Ordering::Relaxed);
    }
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
    /// Messages parked before any store was asked: a part of their key was missing, it was too long, or their payload could not be read.
    pub keyless: u64,
    /// Messages parked because a holder fell silent or failed, and takeovers of messages whose holder fell silent.
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
    let living = living();
    let total = |event: Event| {
        living
            .iter()
            .map(|counts| &**counts)
            .chain([&GONE])
            .map(|counts| counts.of(event).load(Ordering::Relaxed))
            .sum()
    };
    Counters {
        executed: total(Event::Executed),
        replayed: total(Event::Replayed),
        skipped: total(Event::Skipped),
        refused: total(Event::Refused),
        in_progress: total(Event::InProgress),
        mismatch: total(Event::Mismatch),
        keyless: total(Event::Keyless),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_outlive_their_thread_and_its_other_locals() {
        struct CountsAtTheEnd;
        impl Drop for CountsAtTheEnd {
            fn drop(&mut self) {
                count(Event::Spent);
            }
        }
        thread_local! {
            static LAST: CountsAtTheEnd = const { CountsAtTheEnd };
        }
        let before = counters().spent;
        let thread = std::thread::spawn(|| {
            // Made first, and so dropped after the counts are.
            LAST.with(|_| count(Event::Spent));
            count(Event::Spent);
        });
        thread.join().unwrap();
        assert_eq!(counters().spent, before + 3);
    }

    #[test]
    fn a_thread_that_lives_is_counted() {
        let before = counters().recreated;
        count(Event::Recreated);
        let there = std::thread::scope(|scope| scope.spawn(|| counters().recreated).join().unwrap());
        assert_eq!(there, before + 1);
    }
}

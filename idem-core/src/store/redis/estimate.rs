//! The server's time, as far as it is known here.
//!
//! # Why the server says its time with each claim and each end
//!
//! A record that is made here has a fence, a lease and an end by this time, so it must be the server's when the server writes it. What can
//! come between the two is that this host is stopped.
//!
//! - If only the process is (`SIGSTOP`), the clock here goes on: what is known is older than a second then and is not used, or the
//!   round trip was long, and its grants do not count ([`is_slow`]).
//! - If the whole machine is (a virtual machine that is moved or saved, a laptop that sleeps), `Instant` may stand still with it, and the wall
//!   clock too until something sets it. By either, the round trip was short.
//! - Time that was heard a moment before proves nothing about the moment after, and a stop falls where a host is busy. All that is then sent
//!   until the server is heard again would be granted leases that are over before they are given out, and fences that are lower than what a
//!   record had that was made and deleted meanwhile. Each would be taken over at once while its body runs.
//!
//! So what counts is a time that the server says *after* it has a claim, on the same connection and in the same pipeline: nothing that was
//! stopped before is left out by it, and a grant by another time is taken back before anybody has it. (A host that is stopped after it has its
//! grant is in no other position than with any lease; for that there are fences and tokens.) An end cannot be taken back, so its
//! script looks before it writes. Among many, one `TIME` does for all.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Timestamp;
use crate::clock::micros;

/// Follows one server's clock by what its scripts say, and by the time that has passed here since. No wall clock of this host
/// has a part in it.
///
/// It is never ahead of the server (but for drift), and at most a second behind: by the half second that a reply may have been
/// under way, and by what the server's clock was set since. Where this host was stopped for a while, no clock of its own need show that: so
/// what is done by this time is compared with the server's.
#[derive(Default)]
pub(super) struct Estimate {
    /// What the server's clock is ahead of the one here, in microseconds, wrapping; and when that was found out. Zero: never.
    ahead: AtomicU64,
    known_at: AtomicU64,
}

/// Replies that were under way for longer say too little.
const SLOWEST: u64 = 500_000;
/// After so long, the server has to be asked again.
const FRESH: u64 = 1_000_000;

impl Estimate {
    /// The server's time now; `None` if it was not heard of lately.
    pub(super) fn now(&self) -> Option<Timestamp> {
        let here = here();
        let known_at = self.known_at.load(Ordering::Acquire);
        let ahead = self.ahead.load(Ordering::Relaxed);
        (known_at != 0 && here.saturating_sub(known_at) < FRESH)
            .then(|| Timestamp::from_micros(here.wrapping_add(ahead)))
    }

    /// The server said `now` in reply to what was sent at `sent`. Of several within a second, the quickest is believed.
    pub(super) fn learn(&self, now: Timestamp, sent: u64) {
        let here = here();
        if here.saturating_sub(sent) > SLOWEST {
            return;
        }
        let ahead = now.as_micros().wrapping_sub(here);
        let known_at = self.known_at.load(Ordering::Relaxed);
        let more = ahead.wrapping_sub(self.ahead.load(Ordering::Relaxed)).cast_signed();
        // By so much, a clock was set, or this host was stopped for a while.
        let jumped = more.unsigned_abs() > FRESH;
        if more >= 0 || jumped || known_at == 0 || here.saturating_sub(known_at) >= FRESH {
            self.ahead.store(ahead, Ordering::Relaxed);
            self.known_at.store(here, Ordering::Release);
        }
    }
}

/// Time here, in microseconds. More exact than the clock that timers go by.
pub(super) fn here() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    // An hour on, so that zero is long ago.
    micros(START.elapsed()) + 3_600_000_000
}

/// Whether a reply to what was sent at `sent` came too late to be trusted with a lease that was counted from then on.
pub(super) fn is_slow(sent: u64) -> bool {
    Duration::from_micros(here().saturating_sub(sent)) > Duration::from_secs(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_of_a_server_that_was_not_heard() {
        assert_eq!(Estimate::default().now(), None);
    }

    #[test]
    fn the_quickest_of_several_replies_is_believed() {
        let estimate = Estimate::default();
        let now = Timestamp::from_micros(5_000_000_000);
        estimate.learn(now, here());
        estimate.learn(Timestamp::from_micros(4_999_500_000), here());
        let known = estimate.now().unwrap();
        assert!(known >= now && known.since(now) < Duration::from_secs(1), "{known:?}");
    }

    #[test]
    fn a_clock_that_was_set_back_is_believed_at_once() {
        let estimate = Estimate::default();
        estimate.learn(Timestamp::from_micros(5_000_000_000), here());
        let now = Timestamp::from_micros(4_000_000_000);
        estimate.learn(now, here());
        let known = estimate.now().unwrap();
        assert!(known >= now && known.since(now) < Duration::from_secs(1), "{known:?}");
    }

    #[test]
    fn a_reply_that_was_long_under_way_says_nothing() {
        let estimate = Estimate::default();
        estimate.learn(Timestamp::from_micros(5_000_000_000), here() - SLOWEST - 1);
        assert_eq!(estimate.now(), None);
    }
}

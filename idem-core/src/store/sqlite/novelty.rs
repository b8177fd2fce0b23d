//! Whether claims are of new messages.

use std::sync::atomic::{AtomicU32, Ordering};

/// Claims in a row that found no record. Where it is always so, a look before the claim is work for nothing.
#[derive(Default)]
pub(super) struct Novelty(AtomicU32);

impl Novelty {
    /// So many make the next likely to be new too.
    const LIKELY: u32 = 32;

    pub(super) fn is_likely(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= Self::LIKELY
    }

    /// Notes what a claim found. Two that come at once may count as one.
    pub(super) fn note(&self, new: bool) {
        let before = self.0.load(Ordering::Relaxed);
        let after = if new { (before + 1).min(Self::LIKELY) } else { 0 };
        if after != before {
            self.0.store(after, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Novelty;

    #[test]
    fn one_known_message_ends_the_expectation_of_new_ones() {
        let novelty = Novelty::default();
        (1..Novelty::LIKELY).for_each(|_| novelty.note(true));
        assert!(!novelty.is_likely());
        (0..9).for_each(|_| novelty.note(true));
        assert!(novelty.is_likely());
        novelty.note(false);
        assert!(!novelty.is_likely());
    }
}

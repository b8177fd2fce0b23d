//! When to look before claiming.
//!
//! One statement that looks and claims costs the server twice what a look alone does, and saves a new message a round trip. In a
//! storm of redeliveries nearly all claims are of finished messages: then a look is asked first, and the rest is not.

use std::sync::atomic::{AtomicU32, Ordering};

/// The share of duplicates among the latest claims, in parts of `WHOLE`; the latest counts for an eighth.
#[derive(Default)]
pub(super) struct Storm(AtomicU32);

const WHOLE: u32 = 1 << 16;
/// Below three in four, a second round trip for new messages costs more than the looks save.
const STORM: u32 = WHOLE / 4 * 3;

impl Storm {
    pub(super) fn rages(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= STORM
    }

    /// Takes in one more claim. Two at once may count as one.
    pub(super) fn count(&self, is_duplicate: bool) {
        let share = self.0.load(Ordering::Relaxed);
        let latest = if is_duplicate { WHOLE / 8 } else { 0 };
        self.0.store(share - share / 8 + latest, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_begins_after_a_dozen_duplicates_and_ends_with_a_few_new_messages() {
        let storm = Storm::default();
        let mut duplicates = 0;
        while !storm.rages() {
            storm.count(true);
            duplicates += 1;
        }
        assert_eq!(duplicates, 11);
        (0..1_000).for_each(|_| storm.count(true));
        storm.count(false);
        assert!(storm.rages());
        (0..2).for_each(|_| storm.count(false));
        assert!(!storm.rages());
        (0..1_000).for_each(|_| storm.count(false));
        assert!(!storm.rages());
    }

    #[test]
    fn an_even_mix_is_no_storm() {
        let storm = Storm::default();
        for n in 0..1_000 {
            storm.count(n % 2 == 0);
            assert!(!storm.rages());
        }
    }
}

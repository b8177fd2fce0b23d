//! What a claim asks first.
//!
//! One statement that claims and says what it found costs the server half as much again as one that only claims, twice what a look alone
//! does, and is one round trip for new messages and for duplicates. So while there are no duplicates, a claim does not say what it found, and
//! the first duplicate asks again. In a storm of redeliveries nearly all claims are of finished messages: then a look is asked first, and the
//! rest is not.

use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
pub(super) struct Storm {
    /// The share of duplicates among the latest claims, in parts of `WHOLE`; the latest counts for an eighth.
    share: AtomicU32,
    /// How many new messages in a row are missing to a calm.
    unrest: AtomicU32,
}

const WHOLE: u32 = 1 << 16;
/// Below three in four, a second round trip for new messages costs more than the looks save.
const STORM: u32 = WHOLE / 4 * 3;

/// A duplicate that comes alone costs a second round trip, and each of the claims around it a part of one less.
const LULL: u32 = 8;

impl Storm {
    pub(super) fn is_calm(&self) -> bool {
        self.unrest.load(Ordering::Relaxed) == 0
    }

    pub(super) fn rages(&self) -> bool {
        self.share.load(Ordering::Relaxed) >= STORM
    }

    /// Takes in one more claim. Two at once may count as one.
    pub(super) fn count(&self, is_duplicate: bool) {
        let (share, unrest) = (self.share.load(Ordering::Relaxed), self.unrest.load(Ordering::Relaxed));
        let (latest, unrest) = if is_duplicate { (WHOLE / 8, LULL) } else { (0, unrest.saturating_sub(1)) };
        self.share.store(share - share / 8 + latest, Ordering::Relaxed);
        self.unrest.store(unrest, Ordering::Relaxed);
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
    fn duplicates_end_the_calm_until_eight_new_messages_have_come_in_a_row() {
        for duplicates in [1, 100] {
            let storm = Storm::default();
            assert!(storm.is_calm());
            (0..duplicates).for_each(|_| storm.count(true));
            let mut others = 0;
            while !storm.is_calm() {
                storm.count(false);
                others += 1;
            }
            assert_eq!(others, 8);
        }
    }

    #[test]
    fn an_even_mix_is_no_storm() {
        let storm = Storm::default();
        for n in 0..1_000 {
            storm.count(n % 2 == 0);
            assert!(!storm.rages() && !storm.is_calm());
        }
    }
}

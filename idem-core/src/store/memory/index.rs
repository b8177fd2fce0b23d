//! Where a shard keeps a record.

use super::finished::Address;
use crate::store::index;

pub(super) type Index = index::Index<Entry>;

/// Thirty-two bits of the id, and the place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u64);

/// A place in `claims` (the top bit is set) or in `finished`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

pub(super) enum At {
    Claim(u32),
    Finished(Address),
}

const CLAIM: u32 = 1 << 31;

impl Place {
    pub(super) const fn claim(slot: u32) -> Self {
        Self(slot | CLAIM)
    }

    pub(super) const fn finished(address: Address) -> Self {
        Self(address.0)
    }

    #[inline]
    pub(super) const fn at(self) -> At {
        if self.0 & CLAIM == 0 { At::Finished(Address(self.0)) } else { At::Claim(self.0 & !CLAIM) }
    }
}

impl index::Entry for Entry {
    type Place = Place;

    /// No slab is so large that this is the place of a claim.
    const FREE: Self = Self(u64::MAX);

    /// The low half; the high half has chosen the shard.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
    fn tag_of(prefix: u64) -> u32 {
        prefix as u32
    }

    #[inline]
    fn new(tag: u32, place: Place) -> Self {
        Self(u64::from(tag) << 32 | u64::from(place.0))
    }

    #[inline]
    fn tag(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
    fn place(self) -> Place {
        Place(self.0 as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Entry, Place};
    use crate::store::index::tests::finds_what_a_map_finds;

    proptest! {
        #[test]
        fn an_index_of_records_finds_what_a_map_finds(steps in vec((0..40_u8, 0..4_u8), 1..300)) {
            finds_what_a_map_finds::<Entry>(steps, |at| if at % 2 == 0 { Place::claim(at) } else { Place(at) });
        }
    }
}

//! Where a shard keeps a message.

use super::set::PER_SHARD;
use crate::store::index;

pub(super) type Index = index::Index<Entry>;

/// Eighteen bits of the id, and the place. With so few, one look-up in twenty meets another message of the same bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry(u32);

const PLACE_BITS: u32 = 14;

// The last place stays unused, for `FREE`.
const _: () = assert!(PER_SHARD < (1 << PLACE_BITS) - 1);

impl index::Entry for Entry {
    type Place = u32;

    const FREE: Self = Self(u32::MAX);

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "low bits are what is asked for")]
    fn tag_of(prefix: u64) -> u32 {
        prefix as u32 & (u32::MAX >> PLACE_BITS)
    }

    #[inline]
    fn new(tag: u32, place: u32) -> Self {
        Self(tag << PLACE_BITS | place)
    }

    #[inline]
    fn tag(self) -> u32 {
        self.0 >> PLACE_BITS
    }

    #[inline]
    fn place(self) -> u32 {
        self.0 & ((1 << PLACE_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Entry, PER_SHARD};
    use crate::store::index::tests::finds_what_a_map_finds;

    proptest! {
        #[test]
        fn an_index_of_messages_finds_what_a_map_finds(steps in vec((0..40_u8, 0..4_u8), 1..300)) {
            let last = u32::try_from(PER_SHARD).unwrap() - 1;
            finds_what_a_map_finds::<Entry>(steps, |at| last - at);
        }
    }
}

//! From the id of a record to its place.
//!
//! A table of eight-byte entries with linear probing. Half of an entry is 32 bits of the id, which are a hash already, and the
//! other half the place. A look-up touches one cache line of it where a table with separate control bytes touches two; that is
//! a quarter of what a replay costs when the store no longer fits into the cache. Entries are moved back on removal, so that
//! there are no tombstones to clear away.

use super::finished::Address;
use crate::RecordId;

#[derive(Default)]
pub(super) struct Index {
    /// Empty, or a power of two of them.
    entries: Vec<Entry>,
    len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry(u64);

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

/// The low half of an id's prefix; the high half has chosen the shard.
#[allow(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
const fn tag(id: &RecordId) -> u32 {
    id.prefix() as u32
}

impl Entry {
    /// No slab is so large that this is the place of a claim.
    const FREE: Self = Self(u64::MAX);

    fn new(tag: u32, place: Place) -> Self {
        Self(u64::from(tag) << 32 | u64::from(place.0))
    }

    const fn tag(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[allow(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
    const fn place(self) -> Place {
        Place(self.0 as u32)
    }
}

impl Index {
    /// How many records it knows.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The place for which `is_it` holds, among those whose tag is that of `id`.
    #[inline]
    pub(super) fn find(&self, id: &RecordId, is_it: impl Fn(Place) -> bool) -> Option<Place> {
        self.position(tag(id), is_it).map(|position| self.entries[position].place())
    }

    #[inline]
    fn position(&self, tag: u32, is_it: impl Fn(Place) -> bool) -> Option<usize> {
        let mask = self.entries.len().checked_sub(1)?;
        let mut position = tag as usize & mask;
        // At least a quarter is free, so the walk ends.
        loop {
            let entry = self.entries[position];
            if entry == Entry::FREE {
                return None;
            }
            if entry.tag() == tag && is_it(entry.place()) {
                return Some(position);
            }
            position = (position + 1) & mask;
        }
    }

    /// Adds the place of a record that it does not know.
    #[inline]
    pub(super) fn insert(&mut self, id: &RecordId, place: Place) {
        if self.len >= self.entries.len() / 4 * 3 {
            self.resize((self.entries.len() * 2).max(8));
        }
        self.put(Entry::new(tag(id), place));
        self.len += 1;
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        let mask = self.entries.len() - 1;
        let mut position = entry.tag() as usize & mask;
        while self.entries[position] != Entry::FREE {
            position = (position + 1) & mask;
        }
        self.entries[position] = entry;
    }

    /// Says where the record of `id` is now.
    #[inline]
    pub(super) fn repoint(&mut self, id: &RecordId, from: Place, to: Place) {
        if let Some(position) = self.position(tag(id), |place| place == from) {
            self.entries[position] = Entry::new(tag(id), to);
        }
    }

    /// Whether the record of `id` is at `place`.
    pub(super) fn knows(&self, id: &RecordId, place: Place) -> bool {
        self.position(tag(id), |other| other == place).is_some()
    }

    /// Removes the record of `id`, which is at `place`.
    pub(super) fn remove(&mut self, id: &RecordId, place: Place) {
        let Some(mut hole) = self.position(tag(id), |other| other == place) else { return };
        self.len -= 1;
        let mask = self.entries.len() - 1;
        let mut position = hole;
        loop {
            position = (position + 1) & mask;
            let entry = self.entries[position];
            if entry == Entry::FREE {
                break;
            }
            // An entry may fill the hole if the hole lies on its way from home.
            let way = position.wrapping_sub(entry.tag() as usize) & mask;
            if way >= (position.wrapping_sub(hole) & mask) {
                self.entries[hole] = entry;
                hole = position;
            }
        }
        self.entries[hole] = Entry::FREE;
    }

    /// Gives memory back if most of it is free.
    pub(super) fn shrink(&mut self) {
        if self.len < self.entries.len() / 16 {
            self.resize((self.len * 4).next_power_of_two().max(8));
        }
    }

    #[cold]
    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.entries, vec![Entry::FREE; slots]);
        // In order of their old places, so that both tables are walked from front to back.
        for entry in old.into_iter().filter(|entry| *entry != Entry::FREE) {
            self.put(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::{Index, Place};
    use crate::RecordId;

    /// Ids with few tags, most of them near the end of a small table.
    fn id(number: u8) -> RecordId {
        let mut bytes = [0; 32];
        bytes[0] = [5, 6, 7, 7, 7, 15, 14, 0][usize::from(number % 8)];
        bytes[31] = number;
        RecordId::from_bytes(bytes)
    }

    proptest! {
        #[test]
        fn an_index_finds_what_a_map_finds(steps in proptest::collection::vec((0..40_u8, 0..4_u8), 1..300)) {
            let mut index = Index::default();
            let mut map: HashMap<u8, Place> = HashMap::new();
            for (at, (number, step)) in (0..).zip(steps) {
                let place = if at % 2 == 0 { Place::claim(at) } else { Place(at) };
                match (map.get(&number).copied(), step) {
                    (None, _) => {
                        index.insert(&id(number), place);
                        map.insert(number, place);
                    }
                    (Some(before), 0) => {
                        index.repoint(&id(number), before, place);
                        map.insert(number, place);
                    }
                    (Some(before), 1) => {
                        index.remove(&id(number), before);
                        map.remove(&number);
                    }
                    (Some(_), _) => index.shrink(),
                }
                prop_assert_eq!(index.len(), map.len());
                for number in 0..40 {
                    let known = map.get(&number).copied();
                    let found = index.find(&id(number), |place| Some(place) == known);
                    prop_assert!(found == known);
                }
            }
        }
    }
}

//! From the id of a record to its place.
//!
//! A table of small entries with linear probing. One part of an entry is bits of the id, which are a hash already, and the other
//! the place. A look-up touches one cache line of it where a table with separate control bytes touches two; that is a quarter of
//! what a replay costs when a store no longer fits into the cache. Entries are moved back on removal, so that there are no
//! tombstones to clear away.

use crate::RecordId;

pub(super) struct Index<E> {
    /// None, or a power of two of them.
    entries: Vec<E>,
    len: usize,
}

/// How a tag and a place are written together.
pub(super) trait Entry: Copy + PartialEq {
    type Place: Copy + PartialEq;

    /// Written for no tag and place.
    const FREE: Self;

    /// As many of the low bits of a key's prefix as are kept.
    fn tag_of(prefix: u64) -> u32;
    fn new(tag: u32, place: Self::Place) -> Self;
    fn tag(self) -> u32;
    fn place(self) -> Self::Place;
}

/// What is looked up: its prefix is as good as a hash.
pub(super) trait Prefixed {
    fn prefix(&self) -> u64;
}

impl Prefixed for RecordId {
    #[inline]
    fn prefix(&self) -> u64 {
        self.prefix()
    }
}

impl<E> Default for Index<E> {
    fn default() -> Self {
        Self { entries: Vec::new(), len: 0 }
    }
}

impl<E: Entry> Index<E> {
    /// How many records it knows.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The place for which `is_it` holds, among those whose tag is that of `key`.
    #[inline]
    pub(super) fn find(&self, key: &impl Prefixed, is_it: impl Fn(E::Place) -> bool) -> Option<E::Place> {
        self.position(E::tag_of(key.prefix()), is_it).map(|position| self.entries[position].place())
    }

    #[inline]
    fn position(&self, tag: u32, is_it: impl Fn(E::Place) -> bool) -> Option<usize> {
        let mask = self.entries.len().checked_sub(1)?;
        let mut position = tag as usize & mask;
        // At least an eighth is free, so the walk ends.
        loop {
            let entry = self.entries[position];
            if entry == E::FREE {
                return None;
            }
            if entry.tag() == tag && is_it(entry.place()) {
                return Some(position);
            }
            position = (position + 1) & mask;
        }
    }

    /// How many entries there is room for.
    #[cfg(test)]
    pub(super) const fn slots(&self) -> usize {
        self.entries.len()
    }

    /// Adds the place of a record that it does not know.
    #[inline]
    pub(super) fn insert(&mut self, key: &impl Prefixed, place: E::Place) {
        // Fuller, walks grow longer than a line or two; emptier, less of the table fits into a cache.
        if self.len * 16 >= self.entries.len() * 13 {
            self.resize((self.entries.len() * 2).max(8));
        }
        self.put(E::new(E::tag_of(key.prefix()), place));
        self.len += 1;
    }

    #[inline]
    fn put(&mut self, entry: E) {
        let mask = self.entries.len() - 1;
        let mut position = entry.tag() as usize & mask;
        while self.entries[position] != E::FREE {
            position = (position + 1) & mask;
        }
        self.entries[position] = entry;
    }

    /// Says where the record of `key` is now.
    #[inline]
    pub(super) fn repoint(&mut self, key: &impl Prefixed, from: E::Place, to: E::Place) {
        if let Some(position) = self.position(E::tag_of(key.prefix()), |place| place == from) {
            self.entries[position] = E::new(E::tag_of(key.prefix()), to);
        }
    }

    /// Whether the record of `key` is at `place`.
    pub(super) fn knows(&self, key: &impl Prefixed, place: E::Place) -> bool {
        self.position(E::tag_of(key.prefix()), |other| other == place).is_some()
    }

    /// Removes the record of `key`, which is at `place`.
    pub(super) fn remove(&mut self, key: &impl Prefixed, place: E::Place) {
        let Some(mut hole) = self.position(E::tag_of(key.prefix()), |other| other == place) else { return };
        self.len -= 1;
        let mask = self.entries.len() - 1;
        let mut position = hole;
        loop {
            position = (position + 1) & mask;
            let entry = self.entries[position];
            if entry == E::FREE {
                break;
            }
            // An entry may fill the hole if the hole lies on its way from home.
            let way = position.wrapping_sub(entry.tag() as usize) & mask;
            if way >= (position.wrapping_sub(hole) & mask) {
                self.entries[hole] = entry;
                hole = position;
            }
        }
        self.entries[hole] = E::FREE;
    }

    /// Gives memory back if most of it is free.
    pub(super) fn shrink(&mut self) {
        if self.len < self.entries.len() / 16 {
            self.resize((self.len * 4).next_power_of_two().max(8));
        }
    }

    #[cold]
    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.entries, vec![E::FREE; slots]);
        // In order of their old places, so that both tables are walked from front to back.
        for entry in old.into_iter().filter(|entry| *entry != E::FREE) {
            self.put(entry);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashMap;

    use super::{Entry, Index};
    use crate::RecordId;

    /// Ids with few tags, most of them near the end of a small table.
    fn id(number: u8) -> RecordId {
        let mut bytes = [0; 32];
        bytes[0] = [5, 6, 7, 7, 7, 15, 14, 0][usize::from(number % 8)];
        bytes[31] = number;
        RecordId::from_bytes(bytes)
    }

    /// Takes `steps`, each with the number of a key below 40 and what is done with it, in an index and in a map.
    pub(in crate::store) fn finds_what_a_map_finds<E: Entry>(
        steps: Vec<(u8, u8)>,
        place: impl Fn(u32) -> E::Place,
    ) {
        let mut index = Index::<E>::default();
        let mut map: HashMap<u8, E::Place> = HashMap::new();
        for (at, (number, step)) in (0..).zip(steps) {
            let place = place(at);
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
            assert_eq!(index.len(), map.len());
            for number in 0..40 {
                let known = map.get(&number).copied();
                let found = index.find(&id(number), |place| Some(place) == known);
                assert!(found == known, "key {number}");
            }
        }
    }
}

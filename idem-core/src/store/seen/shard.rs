//! A table of messages with a list through it, in the order in which they were asked for.

use std::time::Duration;

use super::entry::{Entry, NONE};
use super::place::Index;
use super::slab::Slab;
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// What a set knows of a message.
#[derive(Debug)]
pub(super) enum Found {
    /// It is done.
    Seen { body: Option<Body>, age: Duration, left: Duration },
    /// It was done with another payload.
    Other,
    /// Nothing.
    Unknown,
}

/// What is remembered of a message.
pub(super) struct Seen {
    pub(super) entry: Entry,
    pub(super) body: Option<Body>,
}

/// A part of a set.
pub(super) struct Shard {
    index: Index,
    entries: Slab<Entry>,
    /// The results, at the same places; `None` if none are kept.
    bodies: Option<Slab<Option<Body>>>,
    newest: u32,
    oldest: u32,
    /// The first of the places that were given back, linked by `older`.
    free: u32,
    limit: usize,
}

impl Shard {
    pub(super) fn new(limit: usize, keep_bodies: bool) -> Self {
        Self {
            index: Index::default(),
            entries: Slab::new(),
            bodies: keep_bodies.then(Slab::new),
            newest: NONE,
            oldest: NONE,
            free: NONE,
            limit,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Looks for a message, and makes it the one asked for last.
    pub(super) fn look(&mut self, id: &RecordId, fingerprint: Option<Fingerprint>, now: Timestamp) -> Found {
        let Some(at) = self.find(id) else { return Found::Unknown };
        let entry = self.entries.get(at);
        if !entry.is_done() {
            return Found::Unknown;
        }
        let left = entry.left(now);
        if left.is_zero() {
            self.remove(id);
            return Found::Unknown;
        }
        if entry.fingerprint() != fingerprint {
            return Found::Other;
        }
        let age = entry.age(now);
        if self.newest != at {
            self.unlink(at);
            self.link(at);
        }
        let body = self.bodies.as_ref().and_then(|bodies| bodies.get(at).clone());
        Found::Seen { body, age, left }
    }

    /// Notes that an attempt was granted a message.
    pub(super) fn begin(&mut self, id: &RecordId, token: Token, fingerprint: Option<Fingerprint>) {
        self.put(id, Seen { entry: Entry::running(id, token, fingerprint), body: None });
    }

    /// Notes that an attempt sends its completion; returns whether it does so for the first time since its grant, and for the payload of that.
    pub(super) fn complete(
        &mut self,
        id: &RecordId,
        token: &Token,
        fingerprint: Option<Fingerprint>,
    ) -> bool {
        let Some(at) = self.find(id) else { return false };
        let entry = self.entries.get_mut(at);
        entry.is_of(token) && entry.complete(fingerprint)
    }

    /// Forgets that an attempt was granted a message.
    pub(super) fn end(&mut self, id: &RecordId, token: &Token) {
        if self.find(id).is_some_and(|at| self.entries.get(at).is_of(token)) {
            self.remove(id);
        }
    }

    /// Remembers a message, unless it is known with the same payload: the first result is the one that counts.
    pub(super) fn insert(&mut self, id: &RecordId, seen: Seen, now: Timestamp) {
        let known = self.find(id).is_some_and(|at| {
            let known = self.entries.get(at);
            known.is_done() && !known.left(now).is_zero() && known.fingerprint() == seen.entry.fingerprint()
        });
        if !known {
            self.put(id, seen);
        }
    }

    /// Puts `seen` in place of what is known of the message, or of the message asked for least recently.
    fn put(&mut self, id: &RecordId, seen: Seen) {
        if let Some(at) = self.find(id) {
            self.unlink(at);
            *self.entries.get_mut(at) = seen.entry;
            if let Some(bodies) = &mut self.bodies {
                *bodies.get_mut(at) = seen.body;
            }
            self.link(at);
            return;
        }
        if self.limit == 0 {
            return;
        }
        if self.len() >= self.limit {
            self.remove_oldest();
        }
        let at = self.place(seen);
        self.link(at);
        self.index.insert(id, at);
    }

    pub(super) fn remove(&mut self, id: &RecordId) {
        if let Some(at) = self.find(id) {
            self.index.remove(id, at);
            self.give_back(at);
        }
    }

    fn remove_oldest(&mut self) {
        let oldest = self.oldest;
        if oldest != NONE {
            self.index.remove(self.entries.get(oldest), oldest);
            self.give_back(oldest);
        }
    }

    fn find(&self, id: &RecordId) -> Option<u32> {
        self.index.find(id, |at| self.entries.get(at).is(id))
    }

    fn place(&mut self, seen: Seen) -> u32 {
        let at = self.free;
        if at == NONE {
            let at = self.entries.push(seen.entry);
            if let Some(bodies) = &mut self.bodies {
                bodies.push(seen.body);
            }
            // A shard holds at most `set::PER_SHARD` entries.
            return u32::try_from(at).unwrap_or(NONE);
        }
        let entry = self.entries.get_mut(at);
        self.free = entry.older;
        *entry = seen.entry;
        if let Some(bodies) = &mut self.bodies {
            *bodies.get_mut(at) = seen.body;
        }
        at
    }

    fn give_back(&mut self, at: u32) {
        self.unlink(at);
        self.entries.get_mut(at).older = self.free;
        self.free = at;
        if let Some(bodies) = &mut self.bodies {
            *bodies.get_mut(at) = None;
        }
    }

    fn link(&mut self, at: u32) {
        let before = std::mem::replace(&mut self.newest, at);
        let entry = self.entries.get_mut(at);
        entry.older = before;
        entry.newer = NONE;
        match before {
            NONE => self.oldest = at,
            before => self.entries.get_mut(before).newer = at,
        }
    }

    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = *self.entries.get(at);
        match newer {
            NONE => self.newest = older,
            newer => self.entries.get_mut(newer).older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries.get_mut(older).newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(shard: &mut Shard, message: u64) {
        // Spread like a digest's first bytes, and quicker.
        let mut id = [0; 32];
        id[..8].copy_from_slice(&(message + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        let id = RecordId::from_bytes(id);
        let now = Timestamp::from_micros(1);
        let entry = Entry::done(&id, None, now, Duration::ZERO, Timestamp::MAX);
        shard.insert(&id, Seen { entry, body: None }, now);
    }

    #[test]
    fn the_index_of_a_full_shard_does_not_grow_however_many_come_and_go() {
        let limit = super::super::set::PER_SHARD;
        let mut shard = Shard::new(limit, false);
        (0..limit as u64).for_each(|message| insert(&mut shard, message));
        let slots = shard.index.slots();
        assert_eq!(slots, 16_384);
        (limit as u64..200_000).for_each(|message| insert(&mut shard, message));
        assert_eq!((shard.len(), shard.index.slots()), (limit, slots));
    }

    #[test]
    fn places_that_were_given_back_are_used_again() {
        let mut shard = Shard::new(3, true);
        (0..100).for_each(|message| insert(&mut shard, message));
        assert_eq!(shard.len(), 3);
        assert_eq!(shard.entries.len(), 3);
    }
}

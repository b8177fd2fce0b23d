//! The records of one shard that are not finished: held, lapsed and released.

use crate::machine::{Prior, Record, State};
use crate::{Fingerprint, RecordId, Timestamp, Token};

/// A record that is Held or Open.
pub(super) struct Unfinished {
    pub(super) id: RecordId,
    pub(super) token: Token,
    pub(super) fence: u64,
    pub(super) tries: u32,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) made_at: Timestamp,
    pub(super) drop_at: Timestamp,
    /// When it is too old for this store, unless somebody holds it.
    pub(super) stale_at: Timestamp,
    pub(super) hold: Hold,
}

#[derive(Clone, Copy)]
pub(super) enum Hold {
    Open,
    Held { lease_at: Timestamp, prior: Prior },
}

impl Unfinished {
    /// Whether an attempt holds it, and its lease runs.
    pub(super) fn is_live(&self, now: Timestamp) -> bool {
        now < self.drop_at && matches!(self.hold, Hold::Held { lease_at, .. } if now < lease_at)
    }

    /// Whether its end has passed, or it lies about and is too old for this store.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.end() <= now
    }

    /// When it is over if nothing else happens to it.
    fn end(&self) -> Timestamp {
        let stale_at = match self.hold {
            Hold::Open => self.stale_at,
            Hold::Held { lease_at, .. } => self.stale_at.max(lease_at),
        };
        self.drop_at.min(stale_at)
    }

    /// The record, as the protocol knows it.
    pub(super) fn record(&self, now: Timestamp) -> Record {
        Record {
            state: match self.hold {
                Hold::Open => State::Open,
                Hold::Held { lease_at, prior } => State::Held { lease_at, prior },
            },
            token: self.token,
            fence: self.fence,
            tries: self.tries,
            fingerprint: self.fingerprint,
            made_at: self.made_at,
            drop_at: if self.is_over(now) { self.drop_at.min(now) } else { self.drop_at },
        }
    }
}

/// A slab: the place of a record stays the same while it is in it.
pub(super) struct Claims {
    slots: Vec<Slot>,
    free: Option<u32>,
    len: usize,
    /// None is over before this; at times it is too early, never too late.
    first_end: Timestamp,
    /// None is abandoned before this; at times it is too early, never too late.
    first_abandoned: Timestamp,
    /// Abandoned records as the last look found them, youngest grant first.
    abandoned: Vec<(u64, u32)>,
}

enum Slot {
    Taken(Unfinished),
    Free { next: Option<u32> },
}

impl Claims {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: None,
            len: 0,
            first_end: Timestamp::MAX,
            first_abandoned: Timestamp::MAX,
            abandoned: Vec::new(),
        }
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Whether one more would make the slab grow.
    pub(super) fn is_crowded(&self) -> bool {
        self.free.is_none() && self.slots.len() == self.slots.capacity()
    }

    /// Makes the slab half as large again.
    pub(super) fn grow(&mut self) {
        self.slots.reserve_exact((self.slots.len() / 2).max(4));
    }

    /// Adds a record; returns its place.
    #[inline]
    pub(super) fn insert(&mut self, record: Unfinished) -> u32 {
        self.note(&record);
        self.len += 1;
        if let Some(place) = self.free {
            let slot = &mut self.slots[place as usize];
            if let Slot::Free { next } = *slot {
                self.free = next;
            }
            *slot = Slot::Taken(record);
            return place;
        }
        // A shard holds less than 2^31 records: see `MAX_RECORDS`.
        let place = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        self.slots.push(Slot::Taken(record));
        place
    }

    /// Puts another record into a place that is taken.
    pub(super) fn replace(&mut self, place: u32, record: Unfinished) {
        self.note(&record);
        self.slots[place as usize] = Slot::Taken(record);
    }

    #[inline]
    fn note(&mut self, record: &Unfinished) {
        self.first_end = self.first_end.min(record.end());
        let abandoned = match record.hold {
            Hold::Open => Timestamp::ZERO,
            Hold::Held { lease_at, .. } => lease_at.min(record.drop_at),
        };
        self.first_abandoned = self.first_abandoned.min(abandoned);
    }

    /// The record at `place`.
    #[inline]
    pub(super) fn get(&self, place: u32) -> Option<&Unfinished> {
        match self.slots.get(place as usize) {
            Some(Slot::Taken(record)) => Some(record),
            _ => None,
        }
    }

    /// Ends the lease of the record at `place`.
    pub(super) fn lapse(&mut self, place: u32, now: Timestamp) {
        if let Some(Slot::Taken(record)) = self.slots.get_mut(place as usize)
            && let Hold::Held { lease_at, .. } = &mut record.hold
        {
            *lease_at = now.min(*lease_at);
            self.first_abandoned = self.first_abandoned.min(now);
            self.first_end = self.first_end.min(record.end());
        }
    }

    /// Makes the record at `place` one that was given back.
    pub(super) fn open(&mut self, place: u32) {
        if let Some(Slot::Taken(record)) = self.slots.get_mut(place as usize) {
            record.hold = Hold::Open;
            self.first_abandoned = Timestamp::ZERO;
            self.first_end = self.first_end.min(record.end());
        }
    }

    /// Removes the record at `place`.
    #[inline]
    pub(super) fn remove(&mut self, place: u32) {
        if let Some(slot @ Slot::Taken(_)) = self.slots.get_mut(place as usize) {
            *slot = Slot::Free { next: self.free };
            self.free = Some(place);
            self.len -= 1;
        }
        if self.len == 0 && self.slots.len() > 1_024 {
            // A burst is over: give its memory back.
            *self = Self::new();
        }
    }

    /// Up to `limit` records that are over.
    pub(super) fn over(&mut self, now: Timestamp, limit: usize) -> Vec<(RecordId, u32)> {
        if now < self.first_end {
            return Vec::new();
        }
        let mut over = Vec::new();
        let mut first_end = Timestamp::MAX;
        for (place, record) in self.taken() {
            if !record.is_over(now) {
                first_end = first_end.min(record.end());
            } else if over.len() < limit {
                over.push((record.id, place));
            } else {
                return over;
            }
        }
        self.first_end = first_end;
        over
    }

    /// The abandoned record with the oldest grant: over, released or lapsed. Those whose lease runs are never named.
    pub(super) fn oldest_abandoned(&mut self, now: Timestamp) -> Option<(RecordId, u32)> {
        loop {
            while let Some((fence, place)) = self.abandoned.pop() {
                // Since the last look it may have been taken over, or have gone.
                if let Some(record) = self.get(place)
                    && record.fence == fence
                    && !record.is_live(now)
                {
                    return Some((record.id, place));
                }
            }
            if now < self.first_abandoned {
                return None;
            }
            let mut first_abandoned = Timestamp::MAX;
            let mut abandoned = Vec::new();
            for (place, record) in self.taken() {
                if !record.is_live(now) {
                    abandoned.push((record.fence, place));
                } else if let Hold::Held { lease_at, .. } = record.hold {
                    first_abandoned = first_abandoned.min(lease_at.min(record.drop_at));
                }
            }
            abandoned.sort_unstable_by(|one, other| other.cmp(one));
            self.first_abandoned = first_abandoned;
            self.abandoned = abandoned;
            if self.abandoned.is_empty() {
                return None;
            }
        }
    }

    fn taken(&self) -> impl Iterator<Item = (u32, &Unfinished)> {
        (0..).zip(&self.slots).filter_map(|(place, slot)| match slot {
            Slot::Taken(record) => Some((place, record)),
            Slot::Free { .. } => None,
        })
    }
}

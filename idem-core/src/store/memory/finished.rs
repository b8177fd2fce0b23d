//! All finished records of one shard.
//!
//! They are appended to segments, and segments belong to lanes. A lane holds records that give memory back in about the order
//! in which they were appended: those with a body, whose times to live lie within a factor of two; those without; and those
//! that had one. So the oldest record of a lane is at its front, and a front that is not due stands for all behind it.

use std::collections::VecDeque;

use super::entry::{Bytes, Finished};
use super::segment::{Head, SEGMENT_LEN, Segment};
use crate::machine::{Claim, Record, Verdict};
use crate::store::Reply;
use crate::{RecordId, Timestamp};

/// Where a finished record is: 15 bits of segment, 16 bits of offset.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Address(pub(super) u32);

impl Address {
    const fn segment(self) -> usize {
        (self.0 >> 16) as usize
    }

    const fn offset(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// A finished record, found for a claim.
pub(super) struct FinishedRecord<'a> {
    segment: &'a Segment,
    offset: usize,
    head: Head,
}

impl FinishedRecord<'_> {
    /// Whether it is the answer to `claim`: its end has not passed, and its payload is no other.
    #[inline]
    pub(super) fn answers(&self, claim: &Claim, now: Timestamp) -> bool {
        now < self.head.drop_at()
            && self.segment.fingerprint(self.offset, &self.head).as_ref() == claim.fingerprint.as_ref()
    }

    /// The answer.
    #[inline]
    pub(super) fn reply(&self, now: Timestamp) -> Reply<Verdict> {
        let head = &self.head;
        if now < head.body_until()
            && !head.is_failed()
            && let Some(body) = self.segment.whole_body(self.offset, head)
        {
            let (age, valid_for) = (now.since(head.done_at()), head.body_until().since(now));
            return Reply::ready(Ok(Verdict::Completed { body: Some(body), age, valid_for, skipped: false }));
        }
        self.other_reply(now)
    }

    #[inline(never)]
    fn other_reply(&self, now: Timestamp) -> Reply<Verdict> {
        let head = &self.head;
        let there = now < head.body_until();
        let body = if there { self.segment.body(self.offset, head) } else { Bytes::Gone }.to_body();
        let age = now.since(head.done_at());
        if head.is_failed() {
            return Reply::ready(Ok(Verdict::Refused { body, age }));
        }
        let valid_for = if there { head.body_until() } else { head.drop_at() }.since(now);
        Reply::ready(Ok(Verdict::Completed { body, age, valid_for, skipped: false }))
    }
}

/// What 15 bits can address. Fewer in tests, which would else need gigabytes to reach it.
const MAX_SEGMENTS: usize = if cfg!(test) { 64 } else { 1 << 15 };

/// The least room of a segment: a store for a few records should be a few kilobytes.
const LEAST_CAPACITY: usize = 1 << 10;

#[derive(Default)]
pub(super) struct FinishedRecords {
    segments: Vec<Segment>,
    free: Vec<usize>,
    lanes: Vec<Lane>,
    /// The lane that was written last: a program has few kinds of record.
    last: usize,
    /// The memory of a segment that is gone, for the next one.
    spare: Vec<u8>,
    len: usize,
    /// No record ends before this; at times it is too early, never too late.
    first_end: Timestamp,
}

struct Lane {
    key: LaneKey,
    segments: VecDeque<usize>,
    /// Nothing in it is due before this.
    due: Timestamp,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct LaneKey {
    kind: LaneKind,
    /// Bits of the time for which the records live, and of that of their bodies.
    keep_bits: u32,
    ttl_bits: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneKind {
    WithBody,
    /// Their results were empty.
    WithoutBody,
    /// Their bodies' time has passed.
    Tombstones,
}

impl LaneKey {
    fn of(record: &Finished<'_>) -> Self {
        let kind = match record.body {
            None => LaneKind::Tombstones,
            Some(body) if body.is_empty() => LaneKind::WithoutBody,
            Some(_) => LaneKind::WithBody,
        };
        let bits = |micros: u64| u64::BITS - micros.leading_zeros();
        let ttl_bits = if kind == LaneKind::WithoutBody { 0 } else { bits(record.ttl) };
        Self { kind, keep_bits: bits(record.keep), ttl_bits }
    }
}

impl FinishedRecords {
    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Appends a record. `None` if every segment is in use: evict one first.
    #[inline]
    pub(super) fn append(&mut self, record: &Finished<'_>) -> Option<Address> {
        let key = LaneKey::of(record);
        let lane = match self.lanes.get(self.last) {
            Some(lane) if lane.key == key => self.last,
            _ => self.lane(key),
        };
        let tail = self.lanes[lane].segments.back().copied();
        let written = tail.and_then(|segment| Some((segment, self.segments[segment].append(record)?)));
        let (segment, offset) = match written {
            Some(place) => place,
            None => self.append_to_fresh(lane, record)?,
        };
        self.len += 1;
        self.first_end = self.first_end.min(record.end());
        self.lanes[lane].due = self.lanes[lane].due.min(record.due());
        Some(address(segment, offset))
    }

    #[cold]
    fn lane(&mut self, key: LaneKey) -> usize {
        let known = self.lanes.iter().position(|lane| lane.key == key);
        self.last = known.unwrap_or_else(|| {
            self.lanes.push(Lane { key, segments: VecDeque::new(), due: Timestamp::MAX });
            self.lanes.len() - 1
        });
        self.last
    }

    fn append_to_fresh(&mut self, lane: usize, record: &Finished<'_>) -> Option<(usize, usize)> {
        if self.free.is_empty() && self.segments.len() == MAX_SEGMENTS {
            return None;
        }
        let wanted = self.capacity_for(lane);
        let mut buffer = std::mem::take(&mut self.spare);
        if buffer.capacity() < wanted || buffer.capacity() > 2 * wanted {
            buffer = Vec::with_capacity(wanted);
        }
        let mut segment = Segment::over(buffer, lane);
        let offset = segment.append(record)?;
        let number = self.free.pop().unwrap_or(self.segments.len());
        if number == self.segments.len() {
            self.segments.push(segment);
        } else {
            self.segments[number] = segment;
        }
        self.lanes[lane].segments.push_back(number);
        Some((number, offset))
    }

    /// A quarter of what the lane holds, so that few records do not keep much memory, and many are not scattered.
    fn capacity_for(&self, lane: usize) -> usize {
        let segments = &self.lanes[lane].segments;
        let held: usize =
            segments.iter().rev().take(8).map(|segment| self.segments[*segment].capacity()).sum();
        (held / 4).clamp(LEAST_CAPACITY, SEGMENT_LEN)
    }

    /// Whether the record at `at` is the one of `id`.
    #[inline]
    pub(super) fn holds(&self, at: Address, id: &RecordId) -> bool {
        self.segments[at.segment()].holds(at.offset(), id)
    }

    /// The record at `at`, as the protocol knows it.
    pub(super) fn record(&self, at: Address) -> Record {
        self.segments[at.segment()].record(at.offset())
    }

    /// The record at `at`, as it is kept.
    #[inline]
    pub(super) fn get(&self, at: Address) -> FinishedRecord<'_> {
        let (segment, offset) = (&self.segments[at.segment()], at.offset());
        FinishedRecord { segment, offset, head: segment.head(offset) }
    }

    /// Removes the record at `at`; its segment goes with the last one.
    pub(super) fn kill(&mut self, at: Address) {
        let number = at.segment();
        self.segments[number].kill(at.offset());
        self.len -= 1;
        if !self.segments[number].is_empty() {
            return;
        }
        let segment = std::mem::take(&mut self.segments[number]);
        let lane = &mut self.lanes[segment.lane];
        // Almost always the first.
        if let Some(place) = lane.segments.iter().position(|other| *other == number) {
            lane.segments.remove(place);
        }
        self.free.push(number);
        let buffer = segment.into_buffer();
        self.spare = buffer;
    }

    /// Writes the record at `at` again without its body, and removes the first writing. `None` if every segment is in use.
    pub(super) fn bury(&mut self, at: Address) -> Option<Address> {
        let (segment, offset) = (&self.segments[at.segment()], at.offset());
        let head = segment.head(offset);
        let id = segment.id(offset);
        let tombstone = Finished {
            id: &id,
            token: segment.token(offset),
            fence: head.fence,
            tries: head.tries,
            fingerprint: segment.fingerprint(offset, &head),
            made_at: Timestamp::from_micros(head.made_at),
            done_at: head.done_at(),
            ttl: head.ttl,
            keep: head.keep,
            failed: head.is_failed(),
            body: None,
        };
        let moved = self.append(&tombstone)?;
        self.kill(at);
        Some(moved)
    }

    /// When the first lane is due.
    pub(super) fn next_due(&self) -> Timestamp {
        self.lanes.iter().map(|lane| lane.due).min().unwrap_or(Timestamp::MAX)
    }

    /// A record that is due, at the front of its lane.
    pub(super) fn next_due_record(&mut self, now: Timestamp) -> Option<(RecordId, Address, Head)> {
        for lane in 0..self.lanes.len() {
            if now < self.lanes[lane].due {
                continue;
            }
            let front = self.front(lane);
            self.lanes[lane].due = front.map_or(Timestamp::MAX, |(_, head)| head.due());
            if let Some((at, head)) = front.filter(|(_, head)| head.due() <= now) {
                return Some((self.id(at), at, head));
            }
        }
        None
    }

    /// The record that was finished first.
    pub(super) fn oldest(&mut self) -> Option<(RecordId, Address, Head)> {
        let fronts = (0..self.lanes.len()).filter_map(|lane| self.front(lane));
        let (at, head) = fronts.min_by_key(|(_, head)| head.done_at())?;
        Some((self.id(at), at, head))
    }

    /// Up to `limit` records whose end has passed, wherever they are.
    pub(super) fn ended(&mut self, now: Timestamp, limit: usize) -> Vec<(RecordId, Address)> {
        let mut ended = Vec::new();
        if now < self.first_end {
            return ended;
        }
        let mut first_of_all = Timestamp::MAX;
        for (number, segment) in self.segments.iter_mut().enumerate() {
            if segment.is_empty() {
                continue;
            }
            if now < segment.first_end {
                first_of_all = first_of_all.min(segment.first_end);
                continue;
            }
            let mut first_end = Timestamp::MAX;
            let mut offset = 0;
            while let Some((start, head, end)) = segment.next(offset) {
                if now < head.drop_at() {
                    first_end = first_end.min(head.drop_at());
                } else if ended.len() < limit {
                    ended.push((segment.id(start), address(number, start)));
                } else {
                    return ended;
                }
                offset = end;
            }
            segment.first_end = first_end;
            first_of_all = first_of_all.min(first_end);
        }
        self.first_end = first_of_all;
        ended
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> (usize, usize) {
        let sizes = self.segments.iter().map(Segment::size);
        sizes.fold((0, 0), |(bytes, bodies), (more, large)| (bytes + more, bodies + large))
    }

    fn front(&mut self, lane: usize) -> Option<(Address, Head)> {
        let number = *self.lanes[lane].segments.front()?;
        let (offset, head) = self.segments[number].front()?;
        Some((address(number, offset), head))
    }

    fn id(&self, at: Address) -> RecordId {
        self.segments[at.segment()].id(at.offset())
    }
}

fn address(segment: usize, offset: usize) -> Address {
    debug_assert!(segment < MAX_SEGMENTS && offset < SEGMENT_LEN);
    #[allow(clippy::cast_possible_truncation, reason = "15 and 16 bits, as both are bounded")]
    Address((segment as u32) << 16 | offset as u32)
}

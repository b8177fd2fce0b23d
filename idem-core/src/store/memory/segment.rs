//! A run of finished records, as bytes.
//!
//! ```text
//! 0      flags                            8..12   done_at - made_at, µs
//! 1      length of the body, bytes        12..16  fence - made_at
//! 2      tries                            16..48  record id
//! 3..8   done_at - base, µs               48..64  token
//!
//! then, each if its flag says so:         16 bytes of fingerprint
//!                                         44 bytes of wide fields
//! then the body, or four bytes of its number in `large`
//! ```
//!
//! Integers are little-endian. A record whose numbers do not fit has wide fields: tries (u32), `done_at`, `made_at`, fence, ttl
//! and keep (u64 each, µs). All others share the ttl and keep of the segment's first record. Fixed places cost three or four
//! bytes more than varints would, and a third of the time to read.

use super::entry::{Bytes, Finished};
use crate::machine::{Kept, Record, State};
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// A finished record whose id is somebody else's by now, or nobody's.
const DEAD: u8 = 1;
/// Failed, and not Done.
const FAILED: u8 = 1 << 1;
const WIDE: u8 = 1 << 2;
const PRINTED: u8 = 1 << 3;
/// The body was too long to be kept in place.
const LARGE: u8 = 1 << 4;
/// The time of its body has passed, and the body is gone.
const BURIED: u8 = 1 << 5;

const HEAD_LEN: usize = 64;
const FINGERPRINT_LEN: usize = 16;
const WIDE_LEN: usize = 44;

/// The most bytes of a segment: what 16 bits can address.
pub(super) const SEGMENT_LEN: usize = 1 << 16;

/// Finished records in the order in which they were appended.
#[derive(Default)]
pub(super) struct Segment {
    bytes: Vec<u8>,
    base: u64,
    ttl: u64,
    keep: u64,
    large: Vec<Option<Body>>,
    /// Which lane it belongs to.
    pub(super) lane: usize,
    /// Records that are not dead.
    alive: u32,
    /// Where the first record begins that may be alive.
    cursor: usize,
    /// No record ends before this; at times it is too early, never too late.
    pub(super) first_end: Timestamp,
}

/// The numbers of a record in a segment.
#[derive(Clone, Copy)]
pub(super) struct Head {
    flags: u8,
    body_len: u8,
    pub(super) tries: u32,
    done_at: u64,
    pub(super) made_at: u64,
    pub(super) fence: u64,
    pub(super) ttl: u64,
    pub(super) keep: u64,
}

impl Head {
    pub(super) const fn is_dead(&self) -> bool {
        self.flags & DEAD != 0
    }

    pub(super) const fn is_failed(&self) -> bool {
        self.flags & FAILED != 0
    }

    pub(super) const fn done_at(&self) -> Timestamp {
        Timestamp::from_micros(self.done_at)
    }

    pub(super) const fn drop_at(&self) -> Timestamp {
        Timestamp::from_micros(self.done_at.saturating_add(self.keep))
    }

    /// When its body goes. A buried one has none whatever the clock says.
    pub(super) const fn body_until(&self) -> Timestamp {
        if self.flags & BURIED != 0 {
            return Timestamp::ZERO;
        }
        Timestamp::from_micros(self.done_at.saturating_add(self.ttl))
    }

    /// When it can give memory back: at the end of its body if it has one, and else at its own.
    pub(super) fn due(&self) -> Timestamp {
        if self.body_len == 0 { self.drop_at() } else { self.body_until() }
    }

    /// A branch and no sum for everyday records, so that the processor goes on to the body before the head has come from memory.
    #[inline]
    fn body_offset(&self) -> usize {
        if self.flags & (PRINTED | WIDE) == 0 { HEAD_LEN } else { self.moved_body_offset() }
    }

    #[cold]
    #[inline(never)]
    fn moved_body_offset(&self) -> usize {
        let printed = if self.flags & PRINTED == 0 { 0 } else { FINGERPRINT_LEN };
        let wide = if self.flags & WIDE == 0 { 0 } else { WIDE_LEN };
        HEAD_LEN + printed + wide
    }

    fn len(&self) -> usize {
        self.body_offset() + self.body_len as usize
    }
}

impl Segment {
    /// An empty segment that writes into `buffer` until that is full.
    pub(super) fn over(mut buffer: Vec<u8>, lane: usize) -> Self {
        buffer.clear();
        Self { bytes: buffer, lane, first_end: Timestamp::MAX, ..Self::default() }
    }

    /// Its room in bytes. It never grows: its records would be copied.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity().min(SEGMENT_LEN)
    }

    /// The memory to write the next segment into.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }

    /// Its room in bytes, and the bodies that it keeps apart.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        (self.bytes.capacity(), self.large.iter().flatten().count())
    }

    /// Whether nothing in it is alive.
    pub(super) const fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Appends a record; returns where it begins, or `None` if it does not fit.
    #[inline]
    pub(super) fn append(&mut self, record: &Finished<'_>) -> Option<usize> {
        if self.bytes.is_empty() {
            (self.base, self.ttl, self.keep) = (record.done_at.as_micros(), record.ttl, record.keep);
        }
        let narrow = self.narrow(record);
        let body = record.body.map_or(&[][..], |body| body.as_slice());
        let large = body.len() > Body::INLINE;
        let body_len = if large { size_of::<u32>() } else { body.len() };
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let flags = flag(record.failed, FAILED)
            | flag(narrow.is_none(), WIDE)
            | flag(record.fingerprint.is_some(), PRINTED)
            | flag(large, LARGE)
            | flag(record.body.is_none(), BURIED);
        let head = narrow.unwrap_or(0) | u128::from(flags) | (body_len as u128) << 8;

        let start = self.bytes.len();
        if start + HEAD_LEN + FINGERPRINT_LEN + WIDE_LEN + body_len > self.capacity() {
            return None;
        }
        let mut fixed = [0; HEAD_LEN];
        fixed[..16].copy_from_slice(&head.to_le_bytes());
        fixed[16..48].copy_from_slice(record.id.as_bytes());
        fixed[48..].copy_from_slice(record.token.as_bytes());
        self.bytes.extend_from_slice(&fixed);
        if let Some(fingerprint) = &record.fingerprint {
            self.bytes.extend_from_slice(fingerprint.as_bytes());
        }
        if narrow.is_none() {
            self.bytes.extend_from_slice(&wide(record));
        }
        if large {
            // A segment holds at most a thousand records.
            let number = u32::try_from(self.large.len()).unwrap_or(u32::MAX);
            self.large.push(record.body.cloned());
            self.bytes.extend_from_slice(&number.to_le_bytes());
        } else {
            self.bytes.extend_from_slice(body);
        }
        self.alive += 1;
        self.first_end = self.first_end.min(record.end());
        Some(start)
    }

    /// The first 16 bytes without flags and length: the numbers as distances, if each fits.
    #[inline]
    fn narrow(&self, record: &Finished<'_>) -> Option<u128> {
        let (done, made) = (record.done_at.as_micros(), record.made_at.as_micros());
        // A distance below zero wraps, and wraps back when it is read.
        let since_base = done.wrapping_sub(self.base);
        let age = done.wrapping_sub(made);
        let fence = record.fence.wrapping_sub(made);
        let fits = since_base < 1 << 40
            && u32::try_from(age).is_ok()
            && u32::try_from(fence).is_ok()
            && u8::try_from(record.tries).is_ok()
            && record.ttl == self.ttl
            && record.keep == self.keep;
        let low = u64::from(record.tries) << 16 | since_base << 24;
        let high = age | fence << 32;
        fits.then_some(u128::from(low) | u128::from(high) << 64)
    }

    /// Reads the numbers of the record at `offset`.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "each is cut out of a wider number")]
    pub(super) fn head(&self, offset: usize) -> Head {
        let head = u128::from_le_bytes(self.array(offset));
        let (low, high) = (head as u64, (head >> 64) as u64);
        let (flags, body_len) = (low as u8, (low >> 8) as u8);
        if flags & WIDE != 0 {
            return self.wide_head(offset, flags, body_len);
        }
        let done_at = self.base.wrapping_add(low >> 24);
        let made_at = done_at.wrapping_sub(u64::from(high as u32));
        Head {
            flags,
            body_len,
            tries: u32::from((low >> 16) as u8),
            done_at,
            made_at,
            fence: made_at.wrapping_add(high >> 32),
            ttl: self.ttl,
            keep: self.keep,
        }
    }

    #[cold]
    fn wide_head(&self, offset: usize, flags: u8, body_len: u8) -> Head {
        let printed = if flags & PRINTED == 0 { 0 } else { FINGERPRINT_LEN };
        let at = offset + HEAD_LEN + printed;
        let number = |index: usize| u64::from_le_bytes(self.array(at + 4 + 8 * index));
        Head {
            flags,
            body_len,
            tries: u32::from_le_bytes(self.array(at)),
            done_at: number(0),
            made_at: number(1),
            fence: number(2),
            ttl: number(3),
            keep: number(4),
        }
    }

    /// Whether the record at `offset` is the one of `id`.
    #[inline]
    pub(super) fn holds(&self, offset: usize, id: &RecordId) -> bool {
        self.bytes[offset + 16..offset + 48] == *id.as_bytes()
    }

    /// The id of the record at `offset`.
    pub(super) fn id(&self, offset: usize) -> RecordId {
        RecordId::from_bytes(self.array(offset + 16))
    }

    /// The token of the record at `offset`.
    pub(super) fn token(&self, offset: usize) -> Token {
        Token::from_bytes(self.array(offset + 48))
    }

    /// The fingerprint of the record at `offset`.
    #[inline]
    pub(super) fn fingerprint(&self, offset: usize, head: &Head) -> Option<Fingerprint> {
        (head.flags & PRINTED != 0).then(|| Fingerprint::from_bytes(self.array(offset + HEAD_LEN)))
    }

    /// The body of the record at `offset`, if it is kept in place and enough lies behind it to copy it as [`Body::prefix`] does.
    #[inline]
    pub(super) fn whole_body(&self, offset: usize, head: &Head) -> Option<Body> {
        let start = offset + head.body_offset();
        let bytes = self.bytes.get(start..)?.first_chunk()?;
        if head.flags & LARGE == 0 { Body::prefix(bytes, head.body_len) } else { None }
    }

    /// The body of the record at `offset`; empty if it was buried.
    #[inline]
    pub(super) fn body(&self, offset: usize, head: &Head) -> Bytes<'_> {
        let start = offset + head.body_offset();
        let bytes = &self.bytes[start..offset + head.len()];
        if head.flags & LARGE == 0 { Bytes::InPlace(bytes) } else { self.large(start) }
    }

    #[cold]
    fn large(&self, start: usize) -> Bytes<'_> {
        let number = u32::from_le_bytes(self.array(start)) as usize;
        self.large.get(number).and_then(Option::as_ref).map_or(Bytes::Gone, Bytes::Apart)
    }

    /// The record at `offset`, as the protocol knows it.
    pub(super) fn record(&self, offset: usize) -> Record {
        let head = self.head(offset);
        let kept = Kept {
            done_at: head.done_at(),
            body_until: head.body_until(),
            body: self.body(offset, &head).to_body().unwrap_or_default(),
        };
        Record {
            state: if head.is_failed() { State::Failed(kept) } else { State::Done(kept) },
            token: self.token(offset),
            fence: head.fence,
            tries: head.tries,
            fingerprint: self.fingerprint(offset, &head),
            made_at: Timestamp::from_micros(head.made_at),
            drop_at: head.drop_at(),
        }
    }

    /// Marks the record at `offset` as nobody's and drops its body if that was kept apart.
    pub(super) fn kill(&mut self, offset: usize) {
        let head = self.head(offset);
        if head.is_dead() {
            return;
        }
        self.bytes[offset] |= DEAD;
        self.alive -= 1;
        if head.flags & LARGE != 0 {
            let number = u32::from_le_bytes(self.array(offset + head.body_offset())) as usize;
            if let Some(body) = self.large.get_mut(number) {
                *body = None;
            }
        }
    }

    /// The first record that is alive.
    pub(super) fn front(&mut self) -> Option<(usize, Head)> {
        while self.cursor < self.bytes.len() {
            let head = self.head(self.cursor);
            if !head.is_dead() {
                return Some((self.cursor, head));
            }
            self.cursor += head.len();
        }
        None
    }

    /// The first record at or after `offset` that is alive, and where the one after it begins.
    pub(super) fn next(&self, mut offset: usize) -> Option<(usize, Head, usize)> {
        while offset < self.bytes.len() {
            let head = self.head(offset);
            let end = offset + head.len();
            if !head.is_dead() {
                return Some((offset, head, end));
            }
            offset = end;
        }
        None
    }

    #[inline]
    fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[offset..offset + N]);
        array
    }
}

fn wide(record: &Finished<'_>) -> [u8; WIDE_LEN] {
    let mut wide = [0; WIDE_LEN];
    wide[..4].copy_from_slice(&record.tries.to_le_bytes());
    let numbers =
        [record.done_at.as_micros(), record.made_at.as_micros(), record.fence, record.ttl, record.keep];
    for (field, number) in wide[4..].chunks_exact_mut(8).zip(numbers) {
        field.copy_from_slice(&number.to_le_bytes());
    }
    wide
}

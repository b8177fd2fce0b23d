//! One remembered message, in 56 bytes.

use std::time::Duration;

use crate::clock::micros;
use crate::store::index::Prefixed;
use crate::{Fingerprint, RecordId, Timestamp, Token};

/// No entry: the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// A message that is done, or under way.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Half of the record's id: 128 bits of SHA-256 are enough to tell any number of messages apart.
    id: [u8; 16],
    state: State,
    /// The fingerprint of a message that is done; or of one under way, half of the attempt's token, and half of the fingerprint that it was granted with.
    mark: [u8; 16],
    done_at: Micros,
    until: Micros,
    /// The entry asked for next after this one.
    pub(super) newer: u32,
    /// The entry asked for last before this one.
    pub(super) older: u32,
}

/// What is known of a message. The set answers for those that are done only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// An attempt of this process was granted it.
    Running,
    /// That attempt has sent its completion, for the first time.
    Completing,
    /// Done, and its payload is not checked.
    Done,
    /// Done with the payload of this fingerprint.
    DoneWith,
}

impl Entry {
    pub(super) fn running(id: &RecordId, token: Token, fingerprint: Option<Fingerprint>) -> Self {
        let mut mark = [0; 16];
        mark[..8].copy_from_slice(&token.as_bytes()[..8]);
        mark[8..].copy_from_slice(&granted_with(fingerprint));
        Self {
            id: half(id),
            state: State::Running,
            mark,
            done_at: Micros::new(0),
            until: Micros::new(0),
            newer: NONE,
            older: NONE,
        }
    }

    pub(super) fn done(
        id: &RecordId,
        fingerprint: Option<Fingerprint>,
        now: Timestamp,
        age: Duration,
        until: Timestamp,
    ) -> Self {
        Self {
            id: half(id),
            state: if fingerprint.is_some() { State::DoneWith } else { State::Done },
            mark: fingerprint.map_or([0; 16], |fingerprint| *fingerprint.as_bytes()),
            // The work may have been done before the clock's epoch, which is when a process of its own began.
            done_at: Micros::new(signed(now.as_micros()).saturating_sub(signed(micros(age)))),
            until: Micros::new(signed(until.as_micros())),
            newer: NONE,
            older: NONE,
        }
    }

    pub(super) fn is(&self, id: &RecordId) -> bool {
        self.id == half(id)
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, State::Done | State::DoneWith)
    }

    /// The payload of a message that is done.
    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        (self.state == State::DoneWith).then(|| Fingerprint::from_bytes(self.mark))
    }

    /// Whether it is under way with this attempt, or was when the attempt sent its completion.
    pub(super) fn is_of(&self, token: &Token) -> bool {
        !self.is_done() && self.mark[..8] == token.as_bytes()[..8]
    }

    /// Notes that its attempt sends its completion; returns whether that is for the first time, and of the payload that it was granted with,
    /// which is the one that the record keeps.
    pub(super) fn complete(&mut self, fingerprint: Option<Fingerprint>) -> bool {
        self.mark[8..] == granted_with(fingerprint)
            && std::mem::replace(&mut self.state, State::Completing) == State::Running
    }

    pub(super) fn age(&self, now: Timestamp) -> Duration {
        between(self.done_at.get(), signed(now.as_micros()))
    }

    /// How long it is still good for; zero if its time has passed.
    pub(super) fn left(&self, now: Timestamp) -> Duration {
        between(signed(now.as_micros()), self.until.get())
    }
}

impl Prefixed for Entry {
    /// The same as [`RecordId::prefix`].
    fn prefix(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.id[..8]);
        u64::from_le_bytes(first)
    }
}

/// A fingerprint, or that there was none, as far as there is room for it.
fn granted_with(fingerprint: Option<Fingerprint>) -> [u8; 8] {
    let mut bytes = [0; 8];
    if let Some(fingerprint) = fingerprint {
        bytes[0] = 1;
        bytes[1..].copy_from_slice(&fingerprint.as_bytes()[..7]);
    }
    bytes
}

fn half(id: &RecordId) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&id.as_bytes()[..16]);
    half
}

fn signed(micros: u64) -> i64 {
    i64::try_from(micros).unwrap_or(i64::MAX)
}

fn between(from: i64, to: i64) -> Duration {
    Duration::from_micros(u64::try_from(to.saturating_sub(from)).unwrap_or(0))
}

/// Microseconds in seven bytes: 1,141 years to either side of the clock's epoch, and saturating there.
#[derive(Clone, Copy)]
struct Micros([u8; 7]);

impl Micros {
    const MAX: i64 = (1 << 55) - 1;

    fn new(micros: i64) -> Self {
        let mut low = [0; 7];
        low.copy_from_slice(&micros.clamp(-Self::MAX, Self::MAX).to_le_bytes()[..7]);
        Self(low)
    }

    fn get(self) -> i64 {
        let mut bytes = [0; 8];
        // As the upper seven of eight bytes, so that shifting down extends the sign.
        bytes[1..].copy_from_slice(&self.0);
        i64::from_le_bytes(bytes) >> 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_takes_56_bytes() {
        assert_eq!(size_of::<Entry>(), 56);
    }

    #[test]
    fn times_come_back_as_they_were_and_stop_at_the_ends() {
        for micros in [0, 1, -1, 255, -256, 1_796_000_000_000_000, Micros::MAX, -Micros::MAX] {
            assert_eq!(Micros::new(micros).get(), micros);
        }
        assert_eq!(Micros::new(i64::MAX).get(), Micros::MAX);
        assert_eq!(Micros::new(i64::MIN).get(), -Micros::MAX);
    }

    #[test]
    fn work_done_before_the_clocks_epoch_has_its_age() {
        let second = Timestamp::from_micros(1_000_000);
        let id = RecordId::from_bytes([7; 32]);
        let entry = Entry::done(&id, None, second, Duration::from_secs(86_400), second);
        assert_eq!(entry.age(second.after(Duration::from_secs(5))), Duration::from_secs(86_405));
        assert_eq!(entry.left(second), Duration::ZERO);
    }
}

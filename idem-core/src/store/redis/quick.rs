//! The two operations of nearly every message, without what makes scripts slow: a first claim, and its success.
//!
//! A first claim is one `SET … NX GET` of a record made here. It is granted if there was none, which no other claim can find too.
//! If there was one, it comes back, and a duplicate's answer is read off it. Its success is a record made here too: a script
//! compares how the old one begins, and writes. One script does it for many records.
//!
//! The times in such a record are the server's as it is known here: see [`Estimate`](super::estimate::Estimate). The server says
//! after the claims, and the script before it writes, whether that was so to a second. This is for times of ten seconds and more, and
//! for records that do not end within the next seconds; all else is left to the scripts that read the server's clock themselves.
//! Who is granted, and who may write, hangs on no clock.

use std::time::Duration;

use redis::{Cmd, Value};

use super::call::{Call, put_key};
use super::record;
use crate::Timestamp;
use crate::machine::{
    Answer, Change, Claim, Completion, Grant, Operation, Prior, Record, Recorded, State, Verdict, decide,
};

/// Leases and lifetimes that are shorter are left to the scripts.
const SHORTEST: Duration = Duration::from_secs(10);
/// What ends sooner is left to the scripts.
const SETTLED: Duration = Duration::from_secs(2);

/// How far the server's time may be from what it was taken for.
const OFF: Duration = Duration::from_secs(1);

/// What a quick command comes to.
#[derive(Debug)]
pub(super) enum Quick {
    Answer(Answer),
    /// The script has to be asked.
    Open,
    /// It was granted, with times that are not the server's: to be taken back before the script is asked.
    Untimely,
    /// The reply belongs to another call.
    Stray,
}

impl Call {
    /// The end that it asks to record, if it does.
    pub(super) fn end(&self) -> Option<End<'_>> {
        match &self.operation {
            Operation::Complete(end) => Some(End { end, success: true }),
            Operation::Fail(end) => Some(End { end, success: false }),
            _ => None,
        }
    }

    /// Whether there is a quick command for it.
    pub(super) fn is_quick(&self) -> bool {
        match &self.operation {
            Operation::Claim(claim) => claim.lease >= SHORTEST,
            Operation::Complete(end) | Operation::Fail(end) => end.ttl >= SHORTEST && end.keep >= SHORTEST,
            _ => false,
        }
    }

    /// Reads the reply to a claim's quick command that was sent at `now`.
    pub(super) fn read_quick(&self, reply: &Value, now: Timestamp) -> Quick {
        match reply {
            Value::Nil => Quick::Answer(Answer::Claim(Verdict::Claimed(Grant {
                fence: now.as_micros(),
                tries: 1,
                first_age: Duration::ZERO,
                prior: Prior::None,
                resumed: false,
            }))),
            Value::BulkString(found) => match record::read(found) {
                Ok(record) if is_settled(&record, now) => match decide(Some(&record), &self.operation, now) {
                    (answer, Change::None) => Quick::Answer(answer),
                    _ => Quick::Open,
                },
                // What is wrong with it, the script's answer says.
                _ => Quick::Open,
            },
            _ => Quick::Stray,
        }
    }
}

/// Whether nothing about it changes within the next two seconds, but by a call.
fn is_settled(record: &Record, now: Timestamp) -> bool {
    let soon = now.after(SETTLED);
    soon < record.drop_at
        && match record.state {
            State::Held { lease_at, .. } => soon < lease_at,
            // A script lets bytes go whose time has passed, by a clock that is ahead of what is known here: what is empty shortly before
            // its end need not have been.
            State::Done(ref kept) | State::Failed(ref kept) => {
                soon < kept.body_until || (kept.body.is_empty() && kept.body_until <= now)
            }
            State::Open => false,
        }
}

impl Quick {
    pub(super) const STORED: Self = Self::Answer(Answer::Record(Recorded::Stored));

    /// The same, if the server's time was what it had been taken for. Else no claim counts.
    pub(super) fn by(self, said: Option<Timestamp>, now: Timestamp) -> Self {
        let timely = said.is_some_and(|said| said.since(now) <= OFF && now.since(said) <= OFF);
        match self {
            Self::Answer(Answer::Claim(Verdict::Claimed(_))) if !timely => Self::Untimely,
            Self::Answer(_) if !timely => Self::Open,
            quick => quick,
        }
    }
}

/// The end of an attempt, as a call asks to record it.
#[derive(Clone, Copy)]
pub(super) struct End<'c> {
    pub(super) end: &'c Completion,
    success: bool,
}

impl End<'_> {
    /// How long the record lives on.
    pub(super) fn lifetime(&self) -> Duration {
        self.end.keep.max(self.end.ttl)
    }

    /// Adds how the record begins that a first attempt holds, up to its first grant: that was its own.
    pub(super) fn put_held(&self, bytes: &mut Vec<u8>) {
        self.put_first(bytes, 1);
    }

    /// Adds the record that is to be there from `now` on.
    pub(super) fn put_new(&self, bytes: &mut Vec<u8>, now: Timestamp, drop_at: Timestamp) {
        self.put_first(bytes, if self.success { 2 } else { 3 });
        for time in [drop_at, now.after(self.end.ttl), now] {
            record::put(bytes, time.as_micros());
        }
        bytes.extend_from_slice(&self.end.body);
    }

    fn put_first(&self, bytes: &mut Vec<u8>, state: u8) {
        record::begin(bytes, state, &self.end.token, self.end.fingerprint.as_ref());
        put_first(bytes, Timestamp::from_micros(self.end.fence));
    }
}

/// The quick command of a claim.
pub(super) fn set_if_new(claim: &Claim, prefix: &[u8], now: Timestamp) -> Cmd {
    let drop_at = now.after(claim.keep.max(claim.lease));
    let mut value = Vec::with_capacity(record::WITHOUT_BODY);
    record::begin(&mut value, 1, &claim.token, claim.fingerprint.as_ref());
    put_first(&mut value, now);
    for time in [drop_at, now.after(claim.lease)] {
        record::put(&mut value, time.as_micros());
    }
    let mut set = Cmd::with_capacity(7, 192);
    set.arg("SET");
    put_key(&mut set, prefix, &claim.id);
    set.arg(&value[..]).arg("NX").arg("GET").arg("PXAT").arg(millis(drop_at));
    set
}

/// Adds the tries, fence and first grant of a first attempt.
fn put_first(bytes: &mut Vec<u8>, granted_at: Timestamp) {
    bytes.extend_from_slice(&1_u32.to_be_bytes());
    for time in [granted_at, granted_at] {
        record::put(bytes, time.as_micros());
    }
}

/// What `TIME` says.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    let Value::Array(parts) = value else { return None };
    let mut parts = parts.iter().map(|part| match part {
        Value::BulkString(digits) => str::from_utf8(digits).ok()?.parse::<u64>().ok(),
        _ => None,
    });
    let (seconds, micros) = (parts.next()??, parts.next()??);
    Some(Timestamp::from_micros(seconds.checked_mul(1_000_000)?.checked_add(micros)?))
}

pub(super) fn seconds(time: Timestamp) -> u64 {
    time.as_micros() / 1_000_000
}

/// The first whole millisecond of the server's clock that is past `time`.
pub(super) fn millis(time: Timestamp) -> u64 {
    time.as_micros().min(record::LAST) / 1_000 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::OnLapse;
    use crate::{RecordId, Token};

    fn claim() -> Call {
        let claim = Claim {
            id: RecordId::from_bytes([1; 32]),
            token: Token::from_bytes([2; 16]),
            fingerprint: None,
            lease: Duration::from_secs(30),
            keep: Duration::from_secs(3_600),
            on_lapse: OnLapse::Rerun,
            max_tries: 5,
            durable: false,
        };
        Call::new(claim.id, Operation::Claim(claim))
    }

    /// A Done record of another attempt.
    fn done(body_until: Timestamp, body: &[u8]) -> Value {
        let mut bytes = Vec::new();
        record::begin(&mut bytes, 2, &Token::from_bytes([3; 16]), None);
        bytes.extend_from_slice(&1_u32.to_be_bytes());
        let (made, drop) = (Timestamp::from_micros(5), Timestamp::from_micros(1 << 50));
        for number in [made, made, drop, body_until, made] {
            record::put(&mut bytes, number.as_micros());
        }
        bytes.extend_from_slice(body);
        Value::BulkString(bytes)
    }

    /// A script lets bytes go by the server's clock, which is up to a second ahead of what is known of it here.
    #[test]
    fn a_result_whose_bytes_went_just_now_is_no_empty_result() {
        let now = Timestamp::from_micros(1 << 49);
        let soon = now.after(Duration::from_millis(500));
        assert!(matches!(claim().read_quick(&done(soon, b""), now), Quick::Open));
        let gone = claim().read_quick(&done(now, b""), now);
        assert!(matches!(gone, Quick::Answer(Answer::Claim(Verdict::Completed { body: None, .. }))));
    }
}

//! The two operations of nearly every message, without what makes scripts slow: a first claim, and its success.
//!
//! A first claim is one `SET … NX GET` of a record made here. It is granted if there was none, which no other claim can find too.
//! If there was one, it comes back, and a duplicate's answer is read off it. Its success is a script that compares how the record
//! begins, and when it ends, and writes; it asks for no time either.
//!
//! The times in such a record are the server's as it is known here: see [`Estimate`](super::estimate::Estimate). They are at most
//! a second behind. So this is for times of ten seconds and more, and for records that do not end within the next two; all else
//! is left to the scripts, which read the server's clock themselves. Who is granted, and who may write, hangs on no clock.

use std::time::Duration;

use redis::{Cmd, Value, cmd};

use super::call::{Call, Naming, begin, key};
use super::record;
use super::script::END_QUICK;
use crate::Timestamp;
use crate::clock::micros;
use crate::machine::{
    Answer, Change, Claim, Completion, Grant, Operation, Prior, Record, Recorded, State, Verdict, decide,
};

/// Leases and lifetimes that are shorter are left to the scripts.
const SHORTEST: Duration = Duration::from_secs(10);
/// What ends sooner is left to the scripts.
const SETTLED: Duration = Duration::from_secs(2);

/// What a quick reply comes to.
pub(super) enum Quick {
    Answer(Answer),
    /// The script has to be asked.
    Open,
    /// It belongs to another call.
    Stray,
}

impl Call {
    /// The quick command for this call, if there is one.
    pub(super) fn quick(&self, prefix: &[u8], now: Timestamp, naming: Naming) -> Option<Cmd> {
        match &self.operation {
            Operation::Claim(claim) if claim.lease >= SHORTEST => Some(set_if_new(self, claim, prefix, now)),
            Operation::Complete(end) if is_long(end) => Some(end_first(self, end, 2, prefix, now, naming)),
            Operation::Fail(end) if is_long(end) => Some(end_first(self, end, 3, prefix, now, naming)),
            _ => None,
        }
    }

    /// Reads the reply to a quick command that was sent at `now`.
    pub(super) fn read_quick(&self, reply: &Value, now: Timestamp) -> Quick {
        match (&self.operation, reply) {
            (Operation::Claim(_), Value::Nil) => Quick::Answer(Answer::Claim(Verdict::Claimed(Grant {
                fence: now.as_micros(),
                tries: 1,
                first_age: Duration::ZERO,
                prior: Prior::None,
                resumed: false,
            }))),
            (Operation::Claim(_), Value::BulkString(found)) => match record::read(found) {
                Ok(record) if is_settled(&record, now) => match decide(Some(&record), &self.operation, now) {
                    (answer, Change::None) => Quick::Answer(answer),
                    _ => Quick::Open,
                },
                // What is wrong with it, the script's answer says.
                _ => Quick::Open,
            },
            (Operation::Complete(end) | Operation::Fail(end), Value::BulkString(who)) => {
                if *who == record::begins(1, &end.token, end.fingerprint.as_ref()) {
                    Quick::Answer(Answer::Record(Recorded::Stored))
                } else {
                    Quick::Stray
                }
            }
            (Operation::Complete(_) | Operation::Fail(_), Value::Nil) => Quick::Open,
            _ => Quick::Stray,
        }
    }
}

fn is_long(end: &Completion) -> bool {
    end.ttl >= SHORTEST && end.keep >= SHORTEST
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

fn set_if_new(call: &Call, claim: &Claim, prefix: &[u8], now: Timestamp) -> Cmd {
    let keep = claim.keep.max(claim.lease);
    let mut value = record::begins(1, &claim.token, claim.fingerprint.as_ref());
    value.extend_from_slice(&1_u32.to_be_bytes());
    for number in [now, now, now.after(keep), now.after(claim.lease)] {
        record::put(&mut value, number.as_micros());
    }
    let mut set = cmd("SET");
    set.arg(key(prefix, &call.id)).arg(value).arg("NX").arg("GET").arg("PX").arg(millis(keep));
    set
}

fn end_first(call: &Call, end: &Completion, state: u8, prefix: &[u8], now: Timestamp, naming: Naming) -> Cmd {
    let keep = end.keep.max(end.ttl);
    let mut tail = Vec::with_capacity(21 + end.body.len());
    for number in [now.after(keep), now.after(end.ttl), now] {
        record::put(&mut tail, number.as_micros());
    }
    tail.extend_from_slice(&end.body);
    let mut command = begin(&END_QUICK, prefix, &call.id, naming);
    command
        .arg(record::begins(1, &end.token, end.fingerprint.as_ref()))
        .arg(record::begins(state, &end.token, end.fingerprint.as_ref()))
        .arg(tail)
        .arg(millis(keep))
        .arg(now.after(SETTLED).as_micros());
    command
}

/// Whole milliseconds, and no fewer than there are.
fn millis(duration: Duration) -> u64 {
    micros(duration).min(record::LAST / 2).div_ceil(1_000)
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
        let mut bytes = record::begins(2, &Token::from_bytes([3; 16]), None);
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

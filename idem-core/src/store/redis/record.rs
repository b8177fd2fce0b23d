//! A record as the bytes of one value.
//!
//! ```text
//! 0xA0 + state + 4 * prior + 16 if a fingerprint is there        1 byte
//! token                                                          16 bytes
//! fingerprint, if it is there                                    16 bytes
//! tries                                                          4 bytes
//! fence, made_at, drop_at, lease_at or body_until                7 bytes each
//! done_at, if Done or Failed                                     7 bytes
//! body, if Done or Failed                                        what is left
//! ```
//!
//! Numbers are big-endian, times are microseconds of the server's clock. The numbers of Lua are doubles, so none is greater
//! than 2^53 - 1, which stands for the end of time (of microseconds, it is the year 2255).

use crate::machine::{Kept, Prior, Record, State};
use crate::{Body, Fingerprint, Timestamp, Token};

/// The greatest number that Lua counts to by ones.
pub(super) const LAST: u64 = (1 << 53) - 1;

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Another program's.
    Foreign,
    /// It began as one of ours.
    Cut,
}

/// Reads the bytes of a value.
pub(super) fn read(bytes: &[u8]) -> Result<Record, Damage> {
    let mut rest = bytes;
    let [flags] = take(&mut rest).map_err(|_| Damage::Foreign)?;
    if flags & 0xe0 != 0xa0 {
        return Err(Damage::Foreign);
    }
    let token = Token::from_bytes(take(&mut rest)?);
    let fingerprint = if flags & 16 == 0 { None } else { Some(Fingerprint::from_bytes(take(&mut rest)?)) };
    let tries = u32::from_be_bytes(take(&mut rest)?);
    let fence = number(&mut rest)?;
    let [made_at, drop_at, end] = [time(&mut rest)?, time(&mut rest)?, time(&mut rest)?];
    let prior = match flags >> 2 & 3 {
        0 => Prior::None,
        1 => Prior::Released,
        2 => Prior::Lapsed,
        _ => return Err(Damage::Cut),
    };
    let state = match flags & 3 {
        0 => State::Open,
        1 => State::Held { lease_at: end, prior },
        kind => {
            let kept = Kept { done_at: time(&mut rest)?, body_until: end, body: Body::copy_from(rest) };
            if kind == 2 { State::Done(kept) } else { State::Failed(kept) }
        }
    };
    Ok(Record { state, token, fence, tries, fingerprint, made_at, drop_at })
}

/// The most bytes of a record without a body.
pub(super) const WITHOUT_BODY: usize = 17 + 16 + 39;

/// Adds how a record begins.
pub(super) fn begin(bytes: &mut Vec<u8>, state: u8, token: &Token, fingerprint: Option<&Fingerprint>) {
    bytes.push(0xa0 + state + if fingerprint.is_some() { 16 } else { 0 });
    bytes.extend_from_slice(token.as_bytes());
    if let Some(fingerprint) = fingerprint {
        bytes.extend_from_slice(fingerprint.as_bytes());
    }
}

/// Adds seven bytes of a number.
pub(super) fn put(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.min(LAST).to_be_bytes()[1..]);
}

/// An instant of seven bytes.
pub(super) fn time(rest: &mut &[u8]) -> Result<Timestamp, Damage> {
    number(rest).map(Timestamp::from_micros)
}

fn number(rest: &mut &[u8]) -> Result<u64, Damage> {
    let mut bytes = [0; 8];
    bytes[1..].copy_from_slice(&take::<7>(rest)?);
    Ok(match u64::from_be_bytes(bytes) {
        LAST.. => u64::MAX,
        number => number,
    })
}

pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Damage> {
    let (head, tail) = rest.split_first_chunk().ok_or(Damage::Cut)?;
    *rest = tail;
    Ok(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Held record without a fingerprint, as the script packs it.
    fn held() -> Vec<u8> {
        let mut bytes = Vec::new();
        begin(&mut bytes, 1 + 8, &Token::from_bytes([3; 16]), None);
        bytes.extend([0, 0, 0, 2]);
        for number in [9, 5, u64::MAX, 7] {
            put(&mut bytes, number);
        }
        bytes
    }

    #[test]
    fn a_record_reads_as_it_was_packed() {
        let record = read(&held()).unwrap();
        let lease_at = Timestamp::from_micros(7);
        assert_eq!(record.state, State::Held { lease_at, prior: Prior::Lapsed });
        assert_eq!((record.tries, record.fence, record.fingerprint), (2, 9, None));
        assert_eq!((record.made_at, record.drop_at), (Timestamp::from_micros(5), Timestamp::MAX));
    }

    #[test]
    fn bytes_of_others_are_told_from_damage() {
        assert_eq!(read(b"hello"), Err(Damage::Foreign));
        assert_eq!(read(b""), Err(Damage::Foreign));
        assert_eq!(read(&held()[..48]), Err(Damage::Cut));
    }
}

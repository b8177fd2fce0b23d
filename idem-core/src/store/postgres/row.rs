//! A record as a row.

use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row, Type};

use crate::clock::micros;
use crate::machine::{Claim, Grant, Kept, Prior, Record, State};
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// What a statement answered about one record.
pub(super) struct Said {
    /// What it wrote: 0 nothing, and otherwise the statement's own number for it.
    pub(super) wrote: i16,
    /// The server's clock when it judged.
    pub(super) now: Timestamp,
    /// The server's clock when it had written: later, if it had to wait for another session in between.
    pub(super) after: Timestamp,
    /// The record as it is, if there is one.
    pub(super) record: Option<Record>,
    /// Whether its holder asked for it more than once.
    resumed: bool,
}

/// A column that holds what idem never writes.
pub(super) struct Damaged(pub(super) &'static str);

/// The column after the record and its body.
const ID: usize = 15;

impl Said {
    pub(super) fn read(row: &PgRow) -> Result<Self, Damaged> {
        let prior: Option<i16> = get(row, 11, "prior")?;
        let state: Option<i16> = get(row, 3, "st")?;
        let (now, after) = clocks(row)?;
        Ok(Self {
            wrote: get(row, 0, "(the answer)")?,
            now,
            after,
            record: state.map(|state| record(row, state, prior)).transpose()?,
            resumed: prior.is_some_and(|prior| prior & 4 != 0),
        })
    }

    /// Whether the statement wrote, even if the record that it answers with cannot be read.
    pub(super) fn has_written(rows: &[PgRow]) -> bool {
        rows.first().is_some_and(|row| matches!(get::<i16>(row, 0, "(the answer)"), Ok(1..)))
    }

    /// Of a statement that says nothing about the record, because `claim` made it.
    pub(super) fn read_of_made(row: &PgRow, claim: &Claim) -> Result<Self, Damaged> {
        let (now, after) = clocks(row)?;
        let mut said = Self { wrote: get(row, 0, "(the answer)")?, now, after, record: None, resumed: false };
        said.made(claim);
        Ok(said)
    }

    /// Takes in that there was no record, and `claim` made one.
    pub(super) fn made(&mut self, claim: &Claim) {
        let now = self.now;
        self.record = Some(Record {
            state: State::Held { lease_at: now.after(claim.lease), prior: Prior::None },
            token: claim.token,
            fence: now.as_micros(),
            tries: 1,
            fingerprint: claim.fingerprint,
            made_at: now,
            drop_at: now.after(claim.keep.max(claim.lease)),
        });
        self.resumed = false;
    }

    /// Of a statement about several records: which one this is about.
    pub(super) fn id(row: &PgRow) -> Result<RecordId, Damaged> {
        array(get(row, ID, "k")?, "k").map(RecordId::from_bytes)
    }

    /// The grant, if the record is held as the statement wrote it.
    pub(super) fn grant(&self) -> Option<Grant> {
        let record = self.record.as_ref().filter(|_| self.wrote == 1)?;
        let State::Held { prior, .. } = record.state else { return None };
        let (fence, tries) = (record.fence, record.tries);
        Some(Grant { fence, tries, first_age: self.now.since(record.made_at), prior, resumed: self.resumed })
    }
}

fn clocks(row: &PgRow) -> Result<(Timestamp, Timestamp), Damaged> {
    let clock = |column| time(get(row, column, "(the clock)")?, "(the clock)");
    Ok((clock(1)?, clock(2)?))
}

fn record(row: &PgRow, state: i16, prior: Option<i16>) -> Result<Record, Damaged> {
    let kept = || {
        let body: Option<&[u8]> = get(row, 14, "body")?;
        Ok(Kept {
            done_at: time(get(row, 12, "done_at")?, "done_at")?,
            body_until: time(get(row, 13, "body_until")?, "body_until")?,
            body: body.map_or_else(Body::default, Body::copy_from),
        })
    };
    // Nobody else holds the table to it: a constraint is read anew for each statement that writes.
    let lease_at: Option<i64> = get(row, 10, "lease_at")?;
    if lease_at.is_some() != (state == 1) {
        return Err(Damaged("lease_at"));
    }
    let state = match state {
        0 => State::Open,
        1 => State::Held {
            lease_at: time(lease_at.unwrap_or_default(), "lease_at")?,
            prior: match prior.map(|prior| prior & 3) {
                Some(0) => Prior::None,
                Some(1) => Prior::Released,
                Some(2) => Prior::Lapsed,
                _ => return Err(Damaged("prior")),
            },
        },
        2 => State::Done(kept()?),
        3 => State::Failed(kept()?),
        _ => return Err(Damaged("st")),
    };
    let fingerprint: Option<&[u8]> = get(row, 7, "fp")?;
    Ok(Record {
        state,
        token: Token::from_bytes(array(get(row, 4, "token")?, "token")?),
        fence: u64::try_from(get::<i64>(row, 5, "fence")?).map_err(|_| Damaged("fence"))?,
        tries: u32::try_from(get::<i32>(row, 6, "tries")?).map_err(|_| Damaged("tries"))?,
        fingerprint: fingerprint.map(|bytes| array(bytes, "fp").map(Fingerprint::from_bytes)).transpose()?,
        made_at: time(get(row, 8, "made_at")?, "made_at")?,
        drop_at: time(get(row, 9, "drop_at")?, "drop_at")?,
    })
}

fn get<'r, T>(row: &'r PgRow, column: usize, name: &'static str) -> Result<T, Damaged>
where
    T: Decode<'r, Postgres> + Type<Postgres>,
{
    row.try_get(column).map_err(|_| Damaged(name))
}

fn array<const N: usize>(bytes: &[u8], name: &'static str) -> Result<[u8; N], Damaged> {
    bytes.try_into().map_err(|_| Damaged(name))
}

/// Half of what a `bigint` holds: an instant and a span added to it stay within one. As good as for ever, 146,000 years.
const FOREVER: i64 = i64::MAX / 2;

/// A span of time in microseconds.
pub(super) fn span(of: Duration) -> i64 {
    i64::try_from(micros(of)).map_or(FOREVER, |micros| micros.min(FOREVER))
}

/// A fence as the column holds it.
pub(super) fn fence(of: u64) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}

/// An instant as a column holds it.
pub(super) fn instant(at: Timestamp) -> i64 {
    i64::try_from(at.as_micros()).map_or(FOREVER, |micros| micros.min(FOREVER))
}

/// An instant; all from `FOREVER` on are the end of time.
fn time(micros: i64, name: &'static str) -> Result<Timestamp, Damaged> {
    match u64::try_from(micros) {
        Ok(_) if micros >= FOREVER => Ok(Timestamp::MAX),
        Ok(micros) => Ok(Timestamp::from_micros(micros)),
        Err(_) => Err(Damaged(name)),
    }
}

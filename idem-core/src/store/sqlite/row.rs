//! A record as a row.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows, Statement, ToSql, params};

use crate::machine::{Kept, Prior, Record, State};
use crate::{Body, Fingerprint, RecordId, Timestamp, Token};

/// Why there is no record to be had from a row.
pub(super) enum RowError {
    /// SQLite could not read it.
    Sqlite(rusqlite::Error),
    /// It was read, and this column holds what idem never writes.
    Damaged(&'static str),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Reads one record with the statement in `find.sql`.
pub(super) fn find(statement: &mut Statement<'_>, id: &RecordId) -> Result<Option<Found>, RowError> {
    let mut rows = statement.query([id.as_bytes().as_slice()])?;
    rows.next()?.map(record).transpose()
}

/// A record, and the number of its row.
pub(super) struct Found {
    pub(super) row: i64,
    pub(super) record: Record,
}

/// What a first look at a record shows.
pub(super) enum Glance {
    /// There is none.
    Absent,
    /// The work is done or refused. What only matters before that (token, fence, tries, first grant) was not read and is zero.
    Ended(Record),
    /// Held or open.
    Unsettled,
}

/// Reads with the statement in `glance.sql` what a replay needs: half of the columns, and so a tenth less time.
pub(super) fn glance(statement: &mut Statement<'_>, id: &RecordId) -> Result<Glance, RowError> {
    peek(&mut statement.query([id.as_bytes().as_slice()])?)
}

/// As [`glance`], with the statement in `peek.sql`: it has a row in any case, and so the look goes on until `rows` are dropped.
pub(super) fn peek(rows: &mut Rows<'_>) -> Result<Glance, RowError> {
    let Some(row) = rows.next()? else { return Ok(Glance::Absent) };
    if matches!(row.get_ref(0)?, ValueRef::Null) {
        return Ok(Glance::Absent);
    }
    let state = match integer(row, 0, "st")? {
        2 => State::Done(kept(row, 3)?),
        3 => State::Failed(kept(row, 3)?),
        _ => return Ok(Glance::Unsettled),
    };
    Ok(Glance::Ended(Record {
        state,
        token: Token::from_bytes([0; 16]),
        fence: 0,
        tries: 0,
        fingerprint: fingerprint(row, 1)?,
        made_at: Timestamp::ZERO,
        drop_at: time(row, 2, "drop_at")?,
    }))
}

/// Writes one record: with the statement in `insert.sql` under its id if there is none, or with the one in `update.sql` over its
/// row. Returns whether it did.
pub(super) fn write(
    statement: &mut Statement<'_>,
    whose: impl ToSql,
    record: &Record,
) -> rusqlite::Result<bool> {
    let (lease_at, prior) = match &record.state {
        State::Held { lease_at, prior } => (Some(instant(*lease_at)), Some(prior_number(*prior))),
        _ => (None, None),
    };
    let kept = match &record.state {
        State::Done(kept) | State::Failed(kept) => Some(kept),
        State::Open | State::Held { .. } => None,
    };
    let rows = statement.execute(params![
        whose,
        state_number(&record.state),
        record.token.as_bytes().as_slice(),
        // Fences are compared in Rust only, so their bits may be read as a signed number.
        record.fence.cast_signed(),
        record.tries,
        record.fingerprint.as_ref().map(|print| print.as_bytes().as_slice()),
        instant(record.made_at),
        instant(record.drop_at),
        lease_at,
        prior,
        kept.map(|kept| instant(kept.done_at)),
        kept.map(|kept| instant(kept.body_until)),
        kept.map(|kept| kept.body.as_slice()),
    ])?;
    Ok(rows == 1)
}

/// Writes the end of an attempt with the statement in `settle.sql`, if the record is held with its token and not gone at `now`.
/// Returns whether it was.
pub(super) fn settle(
    statement: &mut Statement<'_>,
    id: &RecordId,
    record: &Record,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let (State::Done(kept) | State::Failed(kept)) = &record.state else { return Ok(false) };
    let rows = statement.execute(params![
        id.as_bytes().as_slice(),
        record.token.as_bytes().as_slice(),
        instant(now),
        state_number(&record.state),
        instant(record.drop_at),
        instant(kept.done_at),
        instant(kept.body_until),
        kept.body.as_slice(),
    ])?;
    Ok(rows == 1)
}

fn record(row: &Row<'_>) -> Result<Found, RowError> {
    let state = match integer(row, 1, "st")? {
        0 => State::Open,
        1 => State::Held {
            lease_at: time(row, 8, "lease_at")?,
            prior: match integer(row, 9, "prior")? {
                0 => Prior::None,
                1 => Prior::Released,
                2 => Prior::Lapsed,
                _ => return Err(RowError::Damaged("prior")),
            },
        },
        2 => State::Done(kept(row, 10)?),
        3 => State::Failed(kept(row, 10)?),
        _ => return Err(RowError::Damaged("st")),
    };
    let record = Record {
        state,
        token: Token::from_bytes(array(row, 2, "token")?),
        fence: integer(row, 3, "fence")?.cast_unsigned(),
        tries: u32::try_from(integer(row, 4, "tries")?).map_err(|_| RowError::Damaged("tries"))?,
        fingerprint: fingerprint(row, 5)?,
        made_at: time(row, 6, "made_at")?,
        drop_at: time(row, 7, "drop_at")?,
    };
    Ok(Found { row: integer(row, 0, "id")?, record })
}

/// The three columns of a result, from `first` on.
fn kept(row: &Row<'_>, first: usize) -> Result<Kept, RowError> {
    Ok(Kept {
        done_at: time(row, first, "done_at")?,
        body_until: time(row, first + 1, "body_until")?,
        body: Body::copy_from(blob(row, first + 2, "body")?),
    })
}

fn fingerprint(row: &Row<'_>, column: usize) -> Result<Option<Fingerprint>, RowError> {
    match row.get_ref(column)? {
        ValueRef::Null => Ok(None),
        _ => array(row, column, "fp").map(|bytes| Some(Fingerprint::from_bytes(bytes))),
    }
}

const fn state_number(state: &State) -> i64 {
    match state {
        State::Open => 0,
        State::Held { .. } => 1,
        State::Done(_) => 2,
        State::Failed(_) => 3,
    }
}

const fn prior_number(prior: Prior) -> i64 {
    match prior {
        Prior::None => 0,
        Prior::Released => 1,
        Prior::Lapsed => 2,
    }
}

/// An instant as SQLite's signed integer; all from the year 294,247 on are the end of time.
pub(super) fn instant(at: Timestamp) -> i64 {
    i64::try_from(at.as_micros()).unwrap_or(i64::MAX)
}

fn time(row: &Row<'_>, column: usize, name: &'static str) -> Result<Timestamp, RowError> {
    match integer(row, column, name)? {
        i64::MAX => Ok(Timestamp::MAX),
        micros => u64::try_from(micros).map(Timestamp::from_micros).map_err(|_| RowError::Damaged(name)),
    }
}

fn integer(row: &Row<'_>, column: usize, name: &'static str) -> Result<i64, RowError> {
    match row.get_ref(column)? {
        ValueRef::Integer(number) => Ok(number),
        _ => Err(RowError::Damaged(name)),
    }
}

fn array<const N: usize>(row: &Row<'_>, column: usize, name: &'static str) -> Result<[u8; N], RowError> {
    blob(row, column, name)?.try_into().map_err(|_| RowError::Damaged(name))
}

fn blob<'r>(row: &'r Row<'_>, column: usize, name: &'static str) -> Result<&'r [u8], RowError> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(bytes),
        _ => Err(RowError::Damaged(name)),
    }
}

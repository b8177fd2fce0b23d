//! A record as a row of rusqlite.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, ToSql, params};

use crate::machine::{Record, State};
use crate::store::sqlite_record::code::Failure;
use crate::store::sqlite_record::row::{
    Columns, Damaged, Found, Values, fingerprint, instant, integer, kept, record, state_number, time,
};
use crate::{RecordId, StoreErrorKind, Timestamp, Token};

/// Why there is no record to be had from a row.
pub(super) type RowError = crate::store::sqlite_record::row::RowError<rusqlite::Error>;

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Driver(error)
    }
}

impl Failure for rusqlite::Error {
    fn code(&self) -> Option<i32> {
        self.sqlite_error().map(|error| error.extended_code)
    }

    fn own_kind(&self) -> StoreErrorKind {
        StoreErrorKind::Misconfigured
    }

    fn unquoted(&self) -> String {
        match self {
            Self::SqliteFailure(code, _) => code.to_string(),
            error => error.to_string(),
        }
    }
}

impl Columns for Row<'_> {
    fn integer(&self, column: usize) -> Option<i64> {
        match self.get_ref(column) {
            Ok(ValueRef::Integer(number)) => Some(number),
            _ => None,
        }
    }

    fn blob(&self, column: usize) -> Option<&[u8]> {
        match self.get_ref(column) {
            Ok(ValueRef::Blob(bytes)) => Some(bytes),
            _ => None,
        }
    }

    fn is_null(&self, column: usize) -> bool {
        matches!(self.get_ref(column), Ok(ValueRef::Null))
    }
}

/// Reads one record with the statement in `find.sql`.
pub(super) fn find(statement: &mut Statement<'_>, id: &RecordId) -> Result<Option<Found>, RowError> {
    let mut rows = statement.query([id.as_bytes().as_slice()])?;
    Ok(rows.next()?.map(record).transpose()?)
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

/// What [`glance`] reads with: half of the columns, and so a tenth less time.
pub(super) const GLANCE: &str = include_str!("glance.sql");

/// Reads what a replay needs of a record, with [`GLANCE`].
pub(super) fn glance(statement: &mut Statement<'_>, id: &RecordId) -> Result<Glance, RowError> {
    let mut rows = statement.query([id.as_bytes().as_slice()])?;
    Ok(rows.next()?.map(glanced).transpose()?.unwrap_or(Glance::Absent))
}

fn glanced(row: &Row<'_>) -> Result<Glance, Damaged> {
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
    let values = Values::of(record);
    let rows = statement.execute(params![
        whose,
        values.state,
        values.token,
        values.fence,
        values.tries,
        values.fingerprint,
        values.made_at,
        values.drop_at,
        values.lease_at,
        values.prior,
        values.done_at,
        values.body_until,
        values.body,
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

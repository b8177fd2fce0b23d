//! A record as a row of rusqlite.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, ToSql};

use crate::machine::{Record, State};
use crate::store::sqlite_record::code::Failure;
use crate::store::sqlite_record::row::{
    Columns, Found, Values, fingerprint, instant, integer, kept, record, state_number, time,
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
    first(statement, id, None, found)
}

/// Reads the first row that a statement finds for a key, in row `at` if its text asks for that.
pub(super) fn first<T>(
    statement: &mut Statement<'_>,
    id: &RecordId,
    at: Option<i64>,
    read: fn(&Row<'_>) -> Result<T, RowError>,
) -> Result<Option<T>, RowError> {
    statement.raw_bind_parameter(1, id.as_bytes().as_slice())?;
    if let Some(row) = at {
        statement.raw_bind_parameter(2, row)?;
    }
    statement.raw_query().next()?.map(read).transpose()
}

/// Reads one record, and the number of its row.
pub(super) fn found(row: &Row<'_>) -> Result<Found, RowError> {
    Ok(record(row)?)
}

/// What a first look at a record shows.
pub(super) enum Glance {
    /// The work is done or refused. What only matters before that (token, fence, tries, first grant) was not read and is zero.
    Ended(Record),
    /// Held or open.
    Unsettled,
}

/// Reads what a replay needs of a record, with the statement in `glance.sql`.
pub(super) fn glanced(row: &Row<'_>) -> Result<Glance, RowError> {
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
    bind(statement, whose, record)?;
    Ok(statement.raw_execute()? == 1)
}

/// Writes a record into row `row`, with the statement in `append.sql` and `room` bytes more, unless the index knows its key. Returns
/// whether it did.
pub(super) fn append(
    statement: &mut Statement<'_>,
    id: &RecordId,
    record: &Record,
    row: i64,
    room: i64,
) -> rusqlite::Result<bool> {
    bind(statement, id.as_bytes().as_slice(), record)?;
    statement.raw_bind_parameter(14, row)?;
    statement.raw_bind_parameter(15, room)?;
    Ok(statement.raw_execute()? == 1)
}

fn bind(statement: &mut Statement<'_>, whose: impl ToSql, record: &Record) -> rusqlite::Result<()> {
    let values = Values::of(record);
    statement.raw_bind_parameter(1, whose)?;
    statement.raw_bind_parameter(2, values.state)?;
    statement.raw_bind_parameter(3, values.token)?;
    statement.raw_bind_parameter(4, values.fence)?;
    statement.raw_bind_parameter(5, values.tries)?;
    statement.raw_bind_parameter(6, values.fingerprint)?;
    statement.raw_bind_parameter(7, values.made_at)?;
    statement.raw_bind_parameter(8, values.drop_at)?;
    statement.raw_bind_parameter(9, values.lease_at)?;
    statement.raw_bind_parameter(10, values.prior)?;
    statement.raw_bind_parameter(11, values.done_at)?;
    statement.raw_bind_parameter(12, values.body_until)?;
    statement.raw_bind_parameter(13, values.body)
}

/// Writes the end of an attempt with one of the statements of `settle.sql`, if the record is held with its token and not gone at `now`.
/// Returns whether it was.
pub(super) fn settle(
    statement: &mut Statement<'_>,
    id: &RecordId,
    record: &Record,
    now: Timestamp,
    at: Option<i64>,
) -> rusqlite::Result<bool> {
    let (State::Done(kept) | State::Failed(kept)) = &record.state else { return Ok(false) };
    statement.raw_bind_parameter(1, id.as_bytes().as_slice())?;
    statement.raw_bind_parameter(2, record.token.as_bytes().as_slice())?;
    statement.raw_bind_parameter(3, instant(now))?;
    statement.raw_bind_parameter(4, state_number(&record.state))?;
    statement.raw_bind_parameter(5, instant(record.drop_at))?;
    statement.raw_bind_parameter(6, instant(kept.done_at))?;
    statement.raw_bind_parameter(7, instant(kept.body_until))?;
    statement.raw_bind_parameter(8, kept.body.as_slice())?;
    if let Some(row) = at {
        statement.raw_bind_parameter(9, row)?;
    }
    Ok(statement.raw_execute()? == 1)
}

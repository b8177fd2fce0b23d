//! A record as a row.

use crate::machine::{Kept, Prior, Record, State};
use crate::{Body, Fingerprint, Timestamp, Token};

/// Why there is no record to be had from a row.
pub(in crate::store) enum RowError<E> {
    /// SQLite could not read it.
    Driver(E),
    /// It was read, and this column holds what idem never writes.
    Damaged(&'static str),
}

/// A column that holds what idem never writes.
pub(in crate::store) struct Damaged(pub(in crate::store) &'static str);

impl<E> From<Damaged> for RowError<E> {
    fn from(Damaged(column): Damaged) -> Self {
        Self::Damaged(column)
    }
}

/// A row as its driver has it.
pub(in crate::store) trait Columns {
    /// The integer in a column; `None` if it holds another type.
    fn integer(&self, column: usize) -> Option<i64>;

    /// The blob in a column; `None` if it holds another type.
    fn blob(&self, column: usize) -> Option<&[u8]>;

    /// Whether a column holds null.
    fn is_null(&self, column: usize) -> bool;
}

/// A record, and the number of its row.
pub(in crate::store) struct Found {
    pub(in crate::store) row: i64,
    pub(in crate::store) record: Record,
}

/// What a record is written as, in the order of the statements' parameters. Before all comes whose it is.
pub(in crate::store) struct Values<'r> {
    pub(in crate::store) state: i64,
    pub(in crate::store) token: &'r [u8],
    /// Fences are compared in Rust only, so their bits may be read as a signed number.
    pub(in crate::store) fence: i64,
    pub(in crate::store) tries: u32,
    pub(in crate::store) fingerprint: Option<&'r [u8]>,
    pub(in crate::store) made_at: i64,
    pub(in crate::store) drop_at: i64,
    pub(in crate::store) lease_at: Option<i64>,
    pub(in crate::store) prior: Option<i64>,
    pub(in crate::store) done_at: Option<i64>,
    pub(in crate::store) body_until: Option<i64>,
    pub(in crate::store) body: Option<&'r [u8]>,
}

impl<'r> Values<'r> {
    pub(in crate::store) fn of(record: &'r Record) -> Self {
        let (lease_at, prior) = match &record.state {
            State::Held { lease_at, prior } => (Some(instant(*lease_at)), Some(prior_number(*prior))),
            _ => (None, None),
        };
        let kept = match &record.state {
            State::Done(kept) | State::Failed(kept) => Some(kept),
            State::Open | State::Held { .. } => None,
        };
        Self {
            state: state_number(&record.state),
            token: record.token.as_bytes().as_slice(),
            fence: record.fence.cast_signed(),
            tries: record.tries,
            fingerprint: record.fingerprint.as_ref().map(|print| print.as_bytes().as_slice()),
            made_at: instant(record.made_at),
            drop_at: instant(record.drop_at),
            lease_at,
            prior,
            done_at: kept.map(|kept| instant(kept.done_at)),
            body_until: kept.map(|kept| instant(kept.body_until)),
            body: kept.map(|kept| kept.body.as_slice()),
        }
    }
}

/// Reads what `find.sql` found.
pub(in crate::store) fn record(row: &impl Columns) -> Result<Found, Damaged> {
    let state = match integer(row, 1, "st")? {
        0 => State::Open,
        1 => State::Held {
            lease_at: time(row, 8, "lease_at")?,
            prior: match integer(row, 9, "prior")? {
                0 => Prior::None,
                1 => Prior::Released,
                2 => Prior::Lapsed,
                _ => return Err(Damaged("prior")),
            },
        },
        2 => State::Done(kept(row, 10)?),
        3 => State::Failed(kept(row, 10)?),
        _ => return Err(Damaged("st")),
    };
    let record = Record {
        state,
        token: Token::from_bytes(array(row, 2, "token")?),
        fence: integer(row, 3, "fence")?.cast_unsigned(),
        tries: u32::try_from(integer(row, 4, "tries")?).map_err(|_| Damaged("tries"))?,
        fingerprint: fingerprint(row, 5)?,
        made_at: time(row, 6, "made_at")?,
        drop_at: time(row, 7, "drop_at")?,
    };
    Ok(Found { row: integer(row, 0, "id")?, record })
}

/// The three columns of a result, from `first` on.
pub(in crate::store) fn kept(row: &impl Columns, first: usize) -> Result<Kept, Damaged> {
    Ok(Kept {
        done_at: time(row, first, "done_at")?,
        body_until: time(row, first + 1, "body_until")?,
        body: Body::copy_from(blob(row, first + 2, "body")?),
    })
}

pub(in crate::store) fn fingerprint(
    row: &impl Columns,
    column: usize,
) -> Result<Option<Fingerprint>, Damaged> {
    // The bytes first: nearly all have one, and it is read once then.
    match row.blob(column).map(TryInto::try_into) {
        Some(Ok(bytes)) => Ok(Some(Fingerprint::from_bytes(bytes))),
        None if row.is_null(column) => Ok(None),
        _ => Err(Damaged("fp")),
    }
}

pub(in crate::store) const fn state_number(state: &State) -> i64 {
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
pub(in crate::store) fn instant(at: Timestamp) -> i64 {
    i64::try_from(at.as_micros()).unwrap_or(i64::MAX)
}

pub(in crate::store) fn time(
    row: &impl Columns,
    column: usize,
    name: &'static str,
) -> Result<Timestamp, Damaged> {
    match integer(row, column, name)? {
        i64::MAX => Ok(Timestamp::MAX),
        micros => u64::try_from(micros).map(Timestamp::from_micros).map_err(|_| Damaged(name)),
    }
}

pub(in crate::store) fn integer(
    row: &impl Columns,
    column: usize,
    name: &'static str,
) -> Result<i64, Damaged> {
    row.integer(column).ok_or(Damaged(name))
}

fn array<const N: usize>(row: &impl Columns, column: usize, name: &'static str) -> Result<[u8; N], Damaged> {
    blob(row, column, name)?.try_into().map_err(|_| Damaged(name))
}

fn blob<'r>(row: &'r impl Columns, column: usize, name: &'static str) -> Result<&'r [u8], Damaged> {
    row.blob(column).ok_or(Damaged(name))
}

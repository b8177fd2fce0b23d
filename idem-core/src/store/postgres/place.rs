//! The table of a store, and what went wrong with it in words.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgDatabaseError};

use super::fault::{Advice, advice};
use super::row::Damaged;
use super::session::Replica;
use crate::{RecordId, StoreError, StoreErrorKind};

/// Server, database and table, for messages.
#[derive(Clone)]
pub(super) struct Place(String);

impl Place {
    pub(super) fn new(options: &PgConnectOptions, table: &str) -> Self {
        let user = options.get_username();
        let database = options.get_database().unwrap_or(user);
        let at = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        Self(format!("{user}@{at}/{database}, table {table}"))
    }

    /// Where a handler's transaction is, of which nobody has said more.
    pub(super) fn of_transaction(table: &str) -> Self {
        Self(format!("of the handler's own transaction, table {table}"))
    }

    /// An error that names the place; `what` goes on after "Postgres store <place>: ".
    pub(super) fn error(&self, kind: StoreErrorKind, what: impl fmt::Display) -> StoreError {
        StoreError::new(kind, format!("Postgres store {}: {what}", self.0))
    }

    /// What sqlx or the server reported while idem was `doing` something.
    pub(super) fn fault(&self, doing: &str, error: sqlx::Error) -> StoreError {
        let advice = advice(&error);
        self.told(doing, error, advice)
    }

    /// The same of an operation of a store that is open: records could be written then. A server that only reads now was demoted, and
    /// another is the primary, or will be: what was done under a claim is worth trying to record until then.
    pub(super) fn trouble(&self, doing: &str, error: sqlx::Error) -> StoreError {
        let mut advice = advice(&error);
        if advice.kind == StoreErrorKind::ReadOnly {
            advice.kind = StoreErrorKind::Unavailable;
        }
        self.told(doing, error, advice)
    }

    fn told(&self, doing: &str, error: sqlx::Error, Advice { kind, advice }: Advice) -> StoreError {
        let what = |cause: &dyn fmt::Display| format!("cannot {doing}: {advice} ({cause})");
        match error {
            sqlx::Error::Database(error) => {
                let said = ServerError::of(error.downcast_ref::<PgDatabaseError>());
                self.error(kind, what(&said)).because(said)
            }
            sqlx::Error::Configuration(cause) if cause.is::<Replica>() => {
                self.error(kind, what(&cause)).because(Replica)
            }
            error => self.error(kind, what(&error)).because(error),
        }
    }

    /// Why a record could not be read.
    pub(super) fn unreadable(&self, id: Option<&RecordId>, Damaged(column): Damaged) -> StoreError {
        let record = id.map_or_else(|| "a record".to_owned(), |id| format!("record {id:?}"));
        self.error(
            StoreErrorKind::Corrupt,
            format_args!("{record} is damaged: its column `{column}` holds what idem never writes"),
        )
    }

    /// Nothing came.
    pub(super) fn late(&self, doing: &str, limit: Duration) -> StoreError {
        self.error(
            StoreErrorKind::Unavailable,
            format_args!("no answer within {limit:?} when asked to {doing}; whether it was done is unknown"),
        )
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the server said, without the detail, in which it quotes rows.
#[derive(Debug)]
struct ServerError {
    code: String,
    message: String,
}

impl ServerError {
    fn of(error: &PgDatabaseError) -> Self {
        Self { code: error.code().to_owned(), message: error.message().to_owned() }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl StdError for ServerError {}

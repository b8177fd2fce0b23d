//! The server's codes by what they mean, and by what to do about them.

use std::io;

use sqlx::postgres::{PgDatabaseError, PgSeverity};

use super::session::Replica;
use crate::StoreErrorKind;

/// What an error comes to for the caller.
pub(super) struct Advice {
    pub(super) kind: StoreErrorKind,
    /// What happened, and what helps.
    pub(super) advice: &'static str,
}

/// What an operation does next after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another session was in the way; nothing was written. The same again.
    Again,
    /// The connection had died, or it knows the table as it was. The same on a new one, if what was sent may be done twice.
    Elsewhere,
    /// Tell the caller. The connection is as good as before.
    Stop,
    /// Tell the caller. The connection is not to be used again.
    Close,
}

pub(super) fn next(error: &sqlx::Error, may_be_stale: bool) -> Next {
    match error {
        sqlx::Error::Database(error) => {
            let error = error.downcast_ref::<PgDatabaseError>();
            match error.code() {
                "40001" | "40P01" => Next::Again,
                // The plan or the prepared statement is of a table that was changed, or of another server session; or the server
                // ended the session while it idled.
                "0A000" | "26000" | "57P01" | "57P02" | "57P05" if may_be_stale => Next::Elsewhere,
                // It was demoted: what the name stands for now may be another server.
                "25006" => Next::Close,
                _ if matches!(error.severity(), PgSeverity::Fatal | PgSeverity::Panic) => Next::Close,
                _ => Next::Stop,
            }
        }
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) if may_be_stale => Next::Elsewhere,
        _ => Next::Close,
    }
}

/// Whether nobody knows if the statement was done.
pub(super) const fn may_be_done(error: &sqlx::Error) -> bool {
    !matches!(error, sqlx::Error::Database(_))
}

pub(super) fn advice(error: &sqlx::Error) -> Advice {
    use StoreErrorKind::{Corrupt, Full, Misconfigured, ReadOnly, Unavailable};
    let (kind, advice) = match error {
        sqlx::Error::Database(error) => {
            let error = error.downcast_ref::<PgDatabaseError>();
            let unencrypted =
                error.message().contains("no encryption") || error.message().contains("SSL off");
            match error.code() {
                "28P01" => (Misconfigured, "the server refused the password; check user and password"),
                "28000" if unencrypted => (
                    Misconfigured,
                    "the server wants TLS; connect with `sslmode=require`, and turn a `tls-…` feature of sqlx on",
                ),
                "28000" => (Misconfigured, "the server refused the user; check the user, and `pg_hba.conf`"),
                "3D000" => (Misconfigured, "there is no such database; create it, or name another"),
                "42501" => (
                    Misconfigured,
                    "the user lacks a permission; grant select, insert, update and delete on the table, and usage on its schema",
                ),
                "42P01" | "3F000" | "42703" => (
                    Misconfigured,
                    "the table is missing, or is not as idem made it; call `migrate` on the builder",
                ),
                "26000" | "42P05" => (
                    Misconfigured,
                    "a prepared statement is gone, or is another client's; behind a pooling proxy, connect with `statement_cache_capacity(0)`",
                ),
                "25006" => (
                    ReadOnly,
                    "the server only reads, as a replica does, or as `default_transaction_read_only` says; connect to the primary",
                ),
                "53100" => (Full, "the server's disk is full; make room there"),
                "53300" | "53400" => (
                    Unavailable,
                    "the server has no connection left; raise its `max_connections`, or lower this store's",
                ),
                "53000" => (Unavailable, "the server lacks resources"),
                "53200" => (
                    Unavailable,
                    "the server lacks memory, or room for locks, of which each message of an open transaction holds one: commit more often, or \
                     raise its `max_locks_per_transaction`",
                ),
                "55P03" => (
                    Unavailable,
                    "another session kept the record locked; look for a transaction that stays open",
                ),
                "57014" => (Unavailable, "the server gave up, as `statement_timeout` or somebody told it to"),
                "57P01" | "57P02" | "57P03" => (Unavailable, "the server is starting or shutting down"),
                "25P03" | "25P04" | "57P05" => {
                    (Unavailable, "the server ended the session, as one of its timeouts told it to")
                }
                "40003" => (Unavailable, "whether it was done is unknown"),
                "40001" | "40P01" => (Unavailable, "other sessions were in the way each time"),
                "XX001" | "XX002" => (Corrupt, "the table or its index is damaged"),
                // The class of errors of the connection.
                code if code.starts_with("08") => (Unavailable, "the connection broke"),
                // Errors of the system below the server, and of the server itself.
                code if code.starts_with("58") || code.starts_with("XX") => {
                    (Unavailable, "the server failed")
                }
                _ => (Misconfigured, "the server refused"),
            }
        }
        sqlx::Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                (Unavailable, "nobody listens there; check host and port, and whether the server runs")
            }
            _ => (Unavailable, "the server cannot be reached, or went away"),
        },
        sqlx::Error::Tls(_) => (
            Misconfigured,
            "the connection cannot be encrypted; turn a `tls-…` feature of sqlx on, or see `sslmode`",
        ),
        sqlx::Error::Configuration(cause) if cause.is::<Replica>() => {
            (ReadOnly, "idem decides where records are written; connect to the primary")
        }
        sqlx::Error::Configuration(_) => (Misconfigured, "the connection is not set up right"),
        sqlx::Error::PoolTimedOut => (Unavailable, "all connections of the pool are in use; give it more"),
        sqlx::Error::PoolClosed => (Unavailable, "the pool was closed"),
        _ => (Unavailable, "the answer cannot be understood"),
    };
    Advice { kind, advice }
}

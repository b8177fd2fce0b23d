//! The table in a file that has other tables, and another owner.

use rusqlite::Connection;

use super::SqliteStore;
use super::inbox::place_of;
use super::place::Place;
use crate::{StoreError, StoreErrorKind};

impl SqliteStore {
    /// The statements that make the table, for those who migrate their database themselves. They are to run once.
    ///
    /// What `#[idempotent(…, tx = tx)]` and [`beside_other_tables`](super::SqliteStoreBuilder::beside_other_tables) need in a database
    /// of yours.
    pub const fn schema() -> &'static str {
        include_str!("schema.sql")
    }

    /// Makes the table in the database of `connection`, if it is not there: at start-up, before the first handler that takes a
    /// transaction of it. In a transaction, the table commits with that; else at once.
    ///
    /// # Errors
    /// The message names the file and the cause.
    /// - [`Foreign`](StoreErrorKind::Foreign): there is another table of this name, or one that a newer idem has made.
    /// - [`ReadOnly`](StoreErrorKind::ReadOnly), [`Full`](StoreErrorKind::Full), [`Corrupt`](StoreErrorKind::Corrupt): the file is.
    /// - [`Unavailable`](StoreErrorKind::Unavailable): another connection kept it locked for as long as this one waits.
    pub fn ensure_schema(connection: &Connection) -> Result<(), StoreError> {
        ensure(connection, &place_of(connection))
    }
}

pub(super) fn ensure(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    let fault = |error| place.fault("make its table", error);
    if !is_there(connection).map_err(fault)? {
        let made = if connection.is_autocommit() {
            // All of it or nothing; and the lock first, so that of two who look at once the second finds the first one's table.
            let made = connection.execute_batch("begin immediate").and_then(|()| {
                let made = make(connection);
                connection.execute_batch(if made.is_ok() { "commit" } else { "rollback" }).and(made)
            });
            if !connection.is_autocommit() {
                let _ = connection.execute_batch("rollback");
            }
            made
        } else {
            make(connection)
        };
        made.map_err(fault)?;
    }
    fits(connection).map_err(|error| {
        let what =
            format_args!("its table `idem_record` is not the one that this version of idem makes: {error}");
        place.error(StoreErrorKind::Foreign, what).because(error)
    })
}

fn make(connection: &Connection) -> rusqlite::Result<()> {
    if is_there(connection)? {
        return Ok(());
    }
    connection.execute_batch(SqliteStore::schema())
}

fn is_there(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(
        "select exists (select 1 from sqlite_schema where name = 'idem_record')",
        [],
        |row| row.get(0),
    )
}

/// Whether the statements can be prepared that read and write all columns, and rely on the key being unique.
fn fits(connection: &Connection) -> rusqlite::Result<()> {
    for statement in [include_str!("find.sql"), include_str!("insert.sql")] {
        connection.prepare(statement)?;
    }
    Ok(())
}

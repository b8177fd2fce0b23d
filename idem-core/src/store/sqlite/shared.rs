//! The table in a file that has other tables, and another owner.

use rusqlite::Connection;

use super::SqliteStore;
use crate::StoreError;
use crate::store::sqlite_record::{Place, SqliteRecords, statements};

impl SqliteStore {
    /// The statements that make the table, for those who migrate their database themselves. They are to run once.
    ///
    /// What `#[idempotent(…, tx = tx)]` and [`beside_other_tables`](super::SqliteStoreBuilder::beside_other_tables) need in a database
    /// of yours.
    pub const fn schema() -> &'static str {
        SqliteRecords::schema()
    }

    /// Makes the table in the database of `connection`, if it is not there: at start-up, before the first handler that takes a
    /// transaction of it. In a transaction, the table commits with that; else at once.
    ///
    /// # Errors
    /// The message names the file and the cause.
    /// - [`Foreign`](crate::StoreErrorKind::Foreign): there is another table of this name, or one that a newer idem has made.
    /// - [`ReadOnly`](crate::StoreErrorKind::ReadOnly), [`Full`](crate::StoreErrorKind::Full), [`Corrupt`](crate::StoreErrorKind::Corrupt): the file is.
    /// - [`Unavailable`](crate::StoreErrorKind::Unavailable): another connection kept it locked for as long as this one waits.
    pub fn ensure_schema(connection: &Connection) -> Result<(), StoreError> {
        ensure(connection, &Place::of_connection(connection.path()))
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
    fits(connection).map_err(|error| place.not_ours(error))
}

fn make(connection: &Connection) -> rusqlite::Result<()> {
    if is_there(connection)? {
        return Ok(());
    }
    connection.execute_batch(SqliteStore::schema())
}

fn is_there(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row(statements::IS_THERE, [], |row| row.get(0))
}

fn fits(connection: &Connection) -> rusqlite::Result<()> {
    statements::FITTING.iter().try_for_each(|statement| connection.prepare(statement).map(drop))
}

//! New records go behind all others.

use super::Engine;
use crate::machine::Record;
use crate::store::sqlite::row;
use crate::store::sqlite::tail::Position;
use crate::store::sqlite_record::statements;
use crate::{RecordId, StoreError, StoreErrorKind};

/// Writes a record into a row.
const APPEND: &str = concat!("insert or fail into ", include_str!("append.sql"), "?1)");
/// The same, unless the index knows a key that begins in the same way: then there is no key to write, and nothing is. With a `where` instead, which
/// makes a statement of many rows of it, SQLite would keep aside what it might have to take back.
const APPEND_NEW: &str = concat!(
    "insert or ignore into ",
    include_str!("append.sql"),
    "iif(exists (select 1 from idem_key where start = substr(?1, 1, 8)), null, ?1))"
);

impl Engine {
    /// Writes a record if its key is not known, and returns whether it did. If it did not, there may be none all the same.
    pub(super) fn insert_new(&mut self, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        if self.keys.are_unique() {
            return self.insert_unique(id, record);
        }
        if self.row(id).is_some() {
            return Ok(false);
        }
        self.append(APPEND_NEW, id, record)
    }

    /// Writes a record of a key that has been looked for in this transaction and has none.
    pub(super) fn insert_absent(&mut self, id: &RecordId, record: &Record) -> Result<(), StoreError> {
        let written = if self.keys.are_unique() {
            self.insert_unique(id, record)?
        } else {
            self.append(APPEND, id, record)?
        };
        if written { Ok(()) } else { Err(self.out_of_place()) }
    }

    fn insert_unique(&self, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        let mut insert = self.prepare(statements::INSERT)?;
        let written = row::write(&mut insert, id.as_bytes().as_slice(), record);
        written.map_err(|error| self.unwritten(error))
    }

    fn append(&mut self, sql: &str, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        // Each transaction that writes records knows this from its begin on.
        let Some(position) = self.position else { return Err(self.out_of_place()) };
        let row = position.last + 1;
        let written = row::append(&mut *self.prepare(sql)?, id, record, row, self.room.bytes());
        if !written.map_err(|error| self.unwritten(error))? {
            return Ok(false);
        }
        self.position = Some(Position { last: row, ..position });
        self.made.insert(*id, row);
        Ok(true)
    }

    /// What cannot be in a transaction that knows all keys.
    fn out_of_place(&self) -> StoreError {
        self.place.error(StoreErrorKind::Unavailable, "others have written meanwhile")
    }
}

//! New records go behind all others.

use super::Engine;
use crate::machine::Record;
use crate::store::sqlite::row;
use crate::store::sqlite_record::statements;
use crate::{RecordId, StoreError, StoreErrorKind};

/// Writes a record into a row.
const APPEND: &str = concat!(include_str!("append.sql"), "?14");
/// The same, unless the index knows a key that begins in the same way.
const APPEND_NEW: &str = concat!(
    include_str!("append.sql"),
    "?14 where not exists (select 1 from idem_key where start = substr(?1, 1, 8))"
);
/// The same into the row behind the last, unless that has the number of one that is gone. It may be another than is expected.
const APPEND_NEXT: &str = concat!(
    include_str!("append.sql"),
    "null where not exists (select 1 from idem_key where start = substr(?1, 1, 8)) and ?14 > (select floor from idem_index)"
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
        self.append(if self.position.is_some() { APPEND_NEW } else { APPEND_NEXT }, id, record)
    }

    /// Writes a record of a key that has been looked for in this transaction and has none.
    pub(super) fn insert_absent(&mut self, id: &RecordId, record: &Record) -> Result<(), StoreError> {
        let written = if self.keys.are_unique() {
            self.insert_unique(id, record)?
        } else {
            self.append(APPEND, id, record)?
        };
        if written { Ok(()) } else { Err(self.passed_by()) }
    }

    fn insert_unique(&self, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        let mut insert = self.prepare(statements::INSERT)?;
        let written = row::write(&mut insert, id.as_bytes().as_slice(), record);
        written.map_err(|error| self.unwritten(error))
    }

    fn append(&mut self, sql: &str, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        let row = 1 + self.position.map_or_else(|| self.keys.last(), |position| position.last);
        let written = row::append(&mut *self.prepare(sql)?, id, record, row);
        if !written.map_err(|error| self.unwritten(error))? {
            return Ok(false);
        }
        if self.connection.last_insert_rowid() != row {
            return Err(self.passed_by());
        }
        if let Some(position) = &mut self.position {
            position.last = row;
        }
        self.made.insert(*id, row);
        Ok(true)
    }

    /// What cannot be in a transaction that knows all keys.
    fn passed_by(&self) -> StoreError {
        self.place.error(StoreErrorKind::Unavailable, "others have written meanwhile")
    }
}

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
/// The same, if there is a row before it, the last that there has ever been, and that is of the key that it is expected to be of.
const APPEND_NEXT: &str = include_str!("append_next.sql");

impl Engine {
    /// Writes a record if its key is not known, and returns whether it did. If it did not, there may be none all the same.
    pub(super) fn insert_new(&mut self, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        if self.keys.are_unique() {
            return self.insert_unique(id, record);
        }
        self.insert_behind(id, record, || ())
    }

    fn insert_behind(
        &mut self,
        id: &RecordId,
        record: &Record,
        between: impl FnOnce(),
    ) -> Result<bool, StoreError> {
        let (sql, row, before) = match self.position {
            Some(_) if self.row(id).is_some() => return Ok(false),
            Some(position) => (APPEND_NEW, position.last + 1, None),
            None => match self.keys.next_row(id) {
                Some((row, before)) => (APPEND_NEXT, row, Some(before)),
                None => return Ok(false),
            },
        };
        between();
        self.append(sql, id, record, row, before)
    }

    /// Writes a record of a key that has been looked for in this transaction and has none.
    pub(super) fn insert_absent(&mut self, id: &RecordId, record: &Record) -> Result<(), StoreError> {
        let written = if self.keys.are_unique() {
            self.insert_unique(id, record)?
        } else {
            // It has been looked for, so this is known.
            let Some(position) = self.position else { return Err(self.passed_by()) };
            self.append(APPEND, id, record, position.last + 1, None)?
        };
        if written { Ok(()) } else { Err(self.passed_by()) }
    }

    fn insert_unique(&self, id: &RecordId, record: &Record) -> Result<bool, StoreError> {
        let mut insert = self.prepare(statements::INSERT)?;
        let written = row::write(&mut insert, id.as_bytes().as_slice(), record);
        written.map_err(|error| self.unwritten(error))
    }

    fn append(
        &mut self,
        sql: &str,
        id: &RecordId,
        record: &Record,
        row: i64,
        before: Option<RecordId>,
    ) -> Result<bool, StoreError> {
        let written = row::append(&mut *self.prepare(sql)?, id, record, row, before);
        if !written.map_err(|error| self.unwritten(error))? {
            return Ok(false);
        }
        if self.made.is_empty() {
            self.made_behind = row - 1;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::RecordId;
    use crate::machine::{Answer, Change, Claim, Operation, Verdict, decide};
    use crate::store::sqlite::engine::in_place::tests::{claim, engines};
    use crate::store::sqlite::open;
    use crate::store::sqlite::work::Wait;

    #[test]
    fn a_row_that_a_reader_finds_while_its_key_is_being_written_is_not_doubled() {
        let (mut one, mut other, dir) = engines("found meanwhile");
        let first = Claim { id: RecordId::from_bytes([9; 32]), ..claim(1) };
        assert!(matches!(one.claim_in_place(&first, true), Ok(Some(Verdict::Claimed(_)))));
        assert!(matches!(other.claim_in_place(&claim(2), true), Ok(Some(Verdict::Claimed(_)))));

        let claim = claim(3);
        let now = one.begin(Wait::Commit).unwrap();
        let (Answer::Claim(_), Change::Put(record)) = decide(None, &Operation::Claim(claim.clone()), now)
        else {
            panic!("a claim of a new message is granted")
        };
        let reader = open::reader(&one.place, Duration::from_secs(1)).unwrap();
        let (keys, place) = (one.keys.clone(), one.place.clone());
        let written = one.insert_behind(&claim.id, &record, || {
            assert!(keys.catch_up(&reader, &place, None).unwrap().is_some());
        });
        assert!(!matches!(written, Ok(true)), "the other one has it");
        one.roll_back();
        drop((one, other));
        std::fs::remove_dir_all(dir).unwrap();
    }
}

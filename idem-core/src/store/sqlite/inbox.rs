//! Records in a transaction of the handler's own, beside its rows in their file.
//!
//! The first statement writes, so that the lock is taken before anything is read: a transaction that reads first and then finds that
//! another process has written cannot go on, however long it would wait. Once the lock is held, nobody else writes until the end
//! of the transaction, and what is read is what will be written over.

use std::path::PathBuf;

use rusqlite::{CachedStatement, Connection, ErrorCode, Savepoint, Transaction};

use super::place::Place;
use super::{SqliteStore, open, row};
use crate::clock::Clock;
use crate::codec;
use crate::machine::{Change, Entry, Record, Settlement, Verdict, enter, settle};
use crate::transaction::{BlockingTransaction, Entered, HoldsRecords, Rules};
use crate::{RecordId, StoreError, StoreErrorKind};

/// Where the records of a transaction of rusqlite are: in the table of `SqliteStore`, in the file that the transaction is of.
#[derive(Clone, Debug)]
pub struct SqliteRecords {
    clock: Clock,
    /// The file that the store is on, if one was named: the transaction has to be of it.
    file: Option<Place>,
}

impl Default for SqliteRecords {
    fn default() -> Self {
        Self { clock: Clock::wall(), file: None }
    }
}

#[diagnostic::do_not_recommend]
impl HoldsRecords<SqliteRecords> for SqliteStore {
    fn records(&self) -> SqliteRecords {
        SqliteRecords { clock: self.0.clock.clone(), file: Some(self.0.writer.place.clone()) }
    }
}

/// Writes the record beside the handler's rows, in one file.
#[diagnostic::do_not_recommend]
impl BlockingTransaction for Transaction<'_> {
    type Records = SqliteRecords;

    fn enter(
        &self,
        records: &SqliteRecords,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        Inbox { connection: self, records }.enter(entry, rules)
    }

    fn settle(
        &self,
        records: &SqliteRecords,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        Inbox { connection: self, records }.settle(entry, before, settlement)
    }
}

/// Writes the record in the savepoint: it goes with the handler's rows if that is rolled back, and commits with the transaction around
/// it.
#[diagnostic::do_not_recommend]
impl BlockingTransaction for Savepoint<'_> {
    type Records = SqliteRecords;

    fn enter(
        &self,
        records: &SqliteRecords,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        Inbox { connection: self, records }.enter(entry, rules)
    }

    fn settle(
        &self,
        records: &SqliteRecords,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        Inbox { connection: self, records }.settle(entry, before, settlement)
    }
}

struct Inbox<'i> {
    connection: &'i Connection,
    records: &'i SqliteRecords,
}

impl Inbox<'_> {
    fn enter(&self, entry: &Entry, rules: &Rules<'_>) -> Result<Entered, StoreError> {
        self.check_open()?;
        self.check_file()?;
        let entered = self.write(entry)?;
        let Entered::Run { before } = &entered else { return Ok(entered) };
        match self.look_back(entry, rules) {
            Ok(None) => Ok(entered),
            Ok(Some(verdict)) => {
                self.settle(entry, before.as_deref(), &Settlement::Withdrawn)?;
                Ok(Entered::Judged(verdict))
            }
            Err(error) => {
                self.give_up();
                Err(error)
            }
        }
    }

    fn write(&self, entry: &Entry) -> Result<Entered, StoreError> {
        let now = self.records.clock.now();
        let (_, change) = enter(None, entry, now);
        if let Change::Put(record) = change {
            let fault = |error| self.fault("write a record", error);
            let id = entry.id.as_bytes().as_slice();
            if row::write(&mut *self.prepare(include_str!("insert.sql"))?, id, &record).map_err(fault)? {
                return Ok(Entered::Run { before: None });
            }
        }
        let found = self.find(&entry.id)?;
        // Read once more: it may have taken a while to get the lock.
        match enter(found.as_ref().map(|found| &found.record), entry, self.records.clock.now()) {
            (Verdict::Claimed(_), Change::Put(record)) => {
                self.put(&entry.id, found.as_ref().map(|found| found.row), &record)?;
                Ok(Entered::Run { before: found.map(|found| Box::new(found.record)) })
            }
            (verdict, _) => Ok(Entered::Judged(verdict)),
        }
    }

    /// What the records of the handler's former scopes answer; `None` if they let the body run.
    fn look_back(&self, entry: &Entry, rules: &Rules<'_>) -> Result<Option<Verdict>, StoreError> {
        for former in rules.former {
            let found = self.find(former)?.map(|found| found.record);
            match enter(found.as_ref(), entry, self.records.clock.now()).0 {
                Verdict::Claimed(_) => {}
                verdict => return Ok(Some(verdict)),
            }
        }
        Ok(None)
    }

    fn settle(
        &self,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        let settled = self.write_end(entry, before, settlement);
        if settled.is_err() {
            self.give_up();
        }
        settled
    }

    fn write_end(
        &self,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        if let Settlement::Done(body) = settlement {
            let kept = self
                .prepare(include_str!("keep.sql"))?
                .execute((entry.id.as_bytes().as_slice(), entry.token.as_bytes().as_slice(), body.as_slice()))
                .map_err(|error| self.fault("write a result", error))?;
            return if kept == 1 { Ok(()) } else { Err(self.gone()) };
        }
        let found = self.find(&entry.id)?.filter(|found| found.record.token == entry.token);
        let Some(found) = found else {
            return match settlement {
                Settlement::Withdrawn => Ok(()),
                _ => Err(self.gone()),
            };
        };
        // The body has committed a part of its work, and then failed: without the record, the next delivery would do that part again.
        let parked = Settlement::Done(codec::pending());
        let over = matches!(settlement, Settlement::Withdrawn) && self.connection.is_autocommit();
        let settlement = if over { &parked } else { settlement };
        match settle(&found.record, before, settlement, self.records.clock.now()) {
            Change::None => Ok(()),
            Change::Put(record) => self.put(&entry.id, Some(found.row), &record),
            Change::Remove => self
                .prepare(include_str!("remove.sql"))?
                .execute([found.row])
                .map(drop)
                .map_err(|error| self.fault("withdraw a record", error)),
        }
    }

    /// After a transaction has ended, SQLite commits each statement by itself: the record would be there before the work is done.
    fn check_open(&self) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        let what = "the transaction is over, rolled back or committed by what ran in it before, so a record could not commit with the \
                    handler's rows; begin another one, and run in it all that was in this one";
        Err(self.error(StoreErrorKind::Misconfigured, what))
    }

    /// The body has rolled back what it did not begin, or has deleted the record.
    fn gone(&self) -> StoreError {
        let what = "the record was rolled back or deleted while the body ran, so it cannot commit with the handler's rows";
        self.error(StoreErrorKind::Misconfigured, what)
    }

    /// SQLite lets a transaction commit after an error. This one must not: its record would say another thing than its rows.
    fn give_up(&self) {
        if !self.connection.is_autocommit() {
            // If even this fails, the connection is not fit to commit anything.
            let _ = self.connection.execute_batch("rollback");
        }
    }

    fn find(&self, id: &RecordId) -> Result<Option<row::Found>, StoreError> {
        row::find(&mut *self.prepare(include_str!("find.sql"))?, id)
            .map_err(|error| self.place().unreadable(id, error))
    }

    fn put(&self, id: &RecordId, row: Option<i64>, record: &Record) -> Result<(), StoreError> {
        let fault = |error| self.fault("write a record", error);
        match row {
            Some(row) => row::write(&mut *self.prepare(include_str!("update.sql"))?, row, record),
            None => {
                row::write(&mut *self.prepare(include_str!("insert.sql"))?, id.as_bytes().as_slice(), record)
            }
        }
        .map(drop)
        .map_err(fault)
    }

    /// A record in another file than the rows could not commit with them.
    fn check_file(&self) -> Result<(), StoreError> {
        let Some(store) = &self.records.file else { return Ok(()) };
        let own = self.place();
        let file = |place: &Place| open::identity(place.path())[0];
        if own.path() == store.path() || (file(&own).is_some() && file(&own) == file(store)) {
            return Ok(());
        }
        let what = format_args!(
            "the transaction is one of {}, where a record of this store could not commit with the handler's rows; open the store \
             on that file, with `beside_other_tables`, or leave `store` out",
            own.path().display()
        );
        Err(store.error(StoreErrorKind::Misconfigured, what))
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        self.connection.prepare_cached(sql).map_err(|error| self.fault("prepare a statement", error))
    }

    fn fault(&self, doing: &str, error: rusqlite::Error) -> StoreError {
        if error.to_string().contains("no such table: idem_record") {
            let what =
                "its table is missing; make it at start-up, with `SqliteStore::ensure_schema(&connection)`";
            return self.error(StoreErrorKind::Misconfigured, what).because(error);
        }
        if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) {
            let what = format_args!(
                "cannot {doing}: another connection is writing, or wrote after this transaction had read ({error}); roll back, \
                 and run the whole transaction again"
            );
            return self.error(StoreErrorKind::Unavailable, what).because(error);
        }
        self.place().fault(doing, error)
    }

    fn error(&self, kind: StoreErrorKind, what: impl std::fmt::Display) -> StoreError {
        self.place().error(kind, what)
    }

    fn place(&self) -> Place {
        place_of(self.connection)
    }
}

/// The file of a connection, for messages.
pub(super) fn place_of(connection: &Connection) -> Place {
    let path = connection.path().filter(|path| !path.is_empty()).unwrap_or("in memory");
    Place::new(PathBuf::from(path))
}

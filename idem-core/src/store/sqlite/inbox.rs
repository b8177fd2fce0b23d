//! Transactions of rusqlite.

use std::future::{Future, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rusqlite::{Savepoint, Transaction};

use super::{SqliteStore, row};
use crate::machine::{Entry, Record, Settlement};
use crate::store::sqlite_record::row::Found;
use crate::store::sqlite_record::{Connection, Inbox, Place, SqliteRecords, statements};
use crate::transaction::{BlockingTransaction, Entered, HoldsRecords, Rules};
use crate::{Body, RecordId, StoreError, Token};

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
        at_once(inbox(self, records).enter(entry, rules))
    }

    fn settle(
        &self,
        records: &SqliteRecords,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        at_once(inbox(self, records).settle(entry, before, settlement))
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
        at_once(inbox(self, records).enter(entry, rules))
    }

    fn settle(
        &self,
        records: &SqliteRecords,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        at_once(inbox(self, records).settle(entry, before, settlement))
    }
}

fn inbox<'i>(
    connection: &'i rusqlite::Connection,
    records: &'i SqliteRecords,
) -> Inbox<'i, &'i rusqlite::Connection> {
    Inbox { connection, records }
}

/// What a future comes to that waits for nothing: each statement of rusqlite is over when its call is.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing in it waits"),
    }
}

impl Connection for &rusqlite::Connection {
    const CURE: &'static str = "SqliteStore::ensure_schema(&connection)";

    type Failure = rusqlite::Error;

    fn insert(
        &mut self,
        id: &RecordId,
        record: &Record,
    ) -> impl Future<Output = rusqlite::Result<bool>> + Send {
        ready(
            self.prepare_cached(statements::INSERT)
                .and_then(|mut insert| row::write(&mut insert, id.as_bytes().as_slice(), record)),
        )
    }

    fn update(&mut self, row: i64, record: &Record) -> impl Future<Output = rusqlite::Result<()>> + Send {
        let updated = self.prepare_cached(statements::UPDATE);
        ready(updated.and_then(|mut update| row::write(&mut update, row, record)).map(drop))
    }

    fn remove(&mut self, row: i64) -> impl Future<Output = rusqlite::Result<()>> + Send {
        ready(self.prepare_cached(statements::REMOVE).and_then(|mut remove| remove.execute([row])).map(drop))
    }

    fn keep(
        &mut self,
        id: &RecordId,
        token: &Token,
        body: &Body,
    ) -> impl Future<Output = rusqlite::Result<bool>> + Send {
        let kept = self.prepare_cached(statements::KEEP).and_then(|mut keep| {
            keep.execute((id.as_bytes().as_slice(), token.as_bytes().as_slice(), body.as_slice()))
        });
        ready(kept.map(|rows| rows == 1))
    }

    fn find(&mut self, id: &RecordId) -> impl Future<Output = Result<Option<Found>, row::RowError>> + Send {
        let find = self.prepare_cached(statements::FIND);
        ready(find.map_err(row::RowError::from).and_then(|mut find| row::find(&mut find, id)))
    }

    fn is_over(&self) -> bool {
        self.is_autocommit()
    }

    fn has_ended(&mut self) -> impl Future<Output = bool> + Send {
        ready(self.is_over())
    }

    fn give_up(&mut self) -> impl Future<Output = ()> + Send {
        if !self.is_autocommit() {
            // If even this fails, the connection is not fit to commit anything.
            let _ = self.execute_batch("rollback");
        }
        ready(())
    }

    fn place(&mut self) -> impl Future<Output = Place> + Send {
        ready(Place::of_connection(self.path()))
    }
}

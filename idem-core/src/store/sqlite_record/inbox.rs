//! Records in a transaction of the handler's own, beside its rows in their file.
//!
//! The first statement writes, so that the lock is taken before anything is read: a transaction that reads first and then finds that
//! another process has written cannot go on, however long it would wait. Once the lock is held, nobody else writes until the end
//! of the transaction, and what is read is what will be written over.

use std::future::Future;

use super::code::{Failure, is_busy, is_too_late};
use super::file::identity;
use super::row::{Found, RowError};
use super::{Place, statements};
use crate::clock::Clock;
use crate::codec;
use crate::machine::{Change, Entry, Record, Settlement, Verdict, enter, settle};
use crate::transaction::{Entered, Rules};
use crate::{Body, RecordId, StoreError, StoreErrorKind, Token};

/// Where the records of a transaction of SQLite are, one of rusqlite or of sqlx: in the table of `SqliteStore`, in the file that the
/// transaction is of.
#[derive(Clone, Debug)]
pub struct SqliteRecords {
    pub(in crate::store) clock: Clock,
    /// The file that the store is on, if one was named: the transaction has to be of it.
    pub(in crate::store) file: Option<Place>,
}

impl Default for SqliteRecords {
    fn default() -> Self {
        Self { clock: Clock::wall(), file: None }
    }
}

impl SqliteRecords {
    /// The statements that make the table, for those who migrate their database themselves. They are to run once.
    ///
    /// What `#[idempotent(…, tx = tx)]` needs in a database of yours.
    pub const fn schema() -> &'static str {
        statements::SCHEMA
    }
}

/// A connection that has a transaction.
///
/// # Cancellation
/// Of each method: the statement may have been run, or may still be. The transaction is to be rolled back.
pub(in crate::store) trait Connection {
    /// How its table is made, for those who find it missing.
    const CURE: &'static str;

    type Failure: Failure;

    /// Whether the record was written: not if there is one of its name.
    fn insert(
        &mut self,
        id: &RecordId,
        record: &Record,
    ) -> impl Future<Output = Result<bool, Self::Failure>> + Send;

    fn update(&mut self, row: i64, record: &Record)
    -> impl Future<Output = Result<(), Self::Failure>> + Send;

    fn remove(&mut self, row: i64) -> impl Future<Output = Result<(), Self::Failure>> + Send;

    /// Whether the result was written: not if the record is another attempt's, or gone.
    fn keep(
        &mut self,
        id: &RecordId,
        token: &Token,
        body: &Body,
    ) -> impl Future<Output = Result<bool, Self::Failure>> + Send;

    fn find(
        &mut self,
        id: &RecordId,
    ) -> impl Future<Output = Result<Option<Found>, RowError<Self::Failure>>> + Send;

    /// Whether the transaction has ended, as far as this can be told: then each statement commits by itself.
    fn is_over(&self) -> bool;

    /// Whether the transaction has ended, also behind the driver's back.
    fn has_ended(&mut self) -> impl Future<Output = bool> + Send;

    /// Ends the transaction, so that nothing of it can commit.
    fn give_up(&mut self) -> impl Future<Output = ()> + Send;

    /// The file, for messages and to be compared. Takes no lock, and reads nothing that a transaction would have to stay with.
    fn place(&mut self) -> impl Future<Output = Place> + Send;
}

/// What is written in a transaction.
pub(in crate::store) struct Inbox<'i, C> {
    pub(in crate::store) connection: C,
    pub(in crate::store) records: &'i SqliteRecords,
}

impl<C: Connection> Inbox<'_, C> {
    pub(in crate::store) async fn enter(
        &mut self,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        self.check_open().await?;
        self.check_file().await?;
        let entered = self.write(entry).await?;
        let Entered::Run { before } = &entered else { return Ok(entered) };
        match self.look_back(entry, rules).await {
            Ok(None) => Ok(entered),
            Ok(Some(verdict)) => {
                self.settle(entry, before.as_deref(), &Settlement::Withdrawn).await?;
                Ok(Entered::Judged(verdict))
            }
            Err(error) => {
                self.connection.give_up().await;
                Err(error)
            }
        }
    }

    async fn write(&mut self, entry: &Entry) -> Result<Entered, StoreError> {
        let (_, change) = enter(None, entry, self.records.clock.now());
        if let Change::Put(record) = change {
            match self.connection.insert(&entry.id, &record).await {
                Ok(true) => return Ok(Entered::Run { before: None }),
                Ok(false) => {}
                Err(error) => return Err(self.fault("write a record", error).await),
            }
        }
        let found = self.find(&entry.id).await?;
        // Read once more: it may have taken a while to get the lock.
        match enter(found.as_ref().map(|found| &found.record), entry, self.records.clock.now()) {
            (Verdict::Claimed(_), Change::Put(record)) => {
                self.put(&entry.id, found.as_ref().map(|found| found.row), &record).await?;
                Ok(Entered::Run { before: found.map(|found| Box::new(found.record)) })
            }
            (verdict, _) => Ok(Entered::Judged(verdict)),
        }
    }

    /// What the records of the handler's former scopes answer; `None` if they let the body run.
    async fn look_back(&mut self, entry: &Entry, rules: &Rules<'_>) -> Result<Option<Verdict>, StoreError> {
        for former in rules.former {
            let found = self.find(former).await?.map(|found| found.record);
            match enter(found.as_ref(), entry, self.records.clock.now()).0 {
                Verdict::Claimed(_) => {}
                verdict => return Ok(Some(verdict)),
            }
        }
        Ok(None)
    }

    pub(in crate::store) async fn settle(
        &mut self,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        let settled = self.write_end(entry, before, settlement).await;
        if settled.is_err() {
            // SQLite lets a transaction commit after an error. This one must not: its record would say another thing than its rows.
            self.connection.give_up().await;
        }
        settled
    }

    async fn write_end(
        &mut self,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        if let Settlement::Done(body) = settlement {
            // The record says so already. It is gone if SQLite has rolled back by itself, and the body went on.
            let said = *body == entry.body;
            if said && !self.connection.is_over() {
                return Ok(());
            }
            return match self.connection.keep(&entry.id, &entry.token, body).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(self.gone().await),
                Err(error) => Err(self.fault("write a result", error).await),
            };
        }
        let found = self.find(&entry.id).await?.filter(|found| found.record.token == entry.token);
        let Some(found) = found else {
            return match settlement {
                Settlement::Withdrawn => Ok(()),
                _ => Err(self.gone().await),
            };
        };
        // The body has committed a part of its work, and then failed: without the record, the next delivery would do that part again.
        let parked = Settlement::Done(codec::pending());
        let over = matches!(settlement, Settlement::Withdrawn) && self.connection.has_ended().await;
        let settlement = if over { &parked } else { settlement };
        match settle(&found.record, before, settlement, self.records.clock.now()) {
            Change::None => Ok(()),
            Change::Put(record) => self.put(&entry.id, Some(found.row), &record).await,
            Change::Remove => match self.connection.remove(found.row).await {
                Ok(()) => Ok(()),
                Err(error) => Err(self.fault("withdraw a record", error).await),
            },
        }
    }

    /// After a transaction has ended, the record would be there before the work is done.
    async fn check_open(&mut self) -> Result<(), StoreError> {
        if !self.connection.is_over() {
            return Ok(());
        }
        let what = "the transaction is over, rolled back or committed by what ran in it before, so a record could not commit with the \
                    handler's rows; begin another one, and run in it all that was in this one";
        Err(self.connection.place().await.error(StoreErrorKind::Misconfigured, what))
    }

    /// The body has rolled back what it did not begin, or has deleted the record.
    async fn gone(&mut self) -> StoreError {
        let what = "the record was rolled back or deleted while the body ran, so it cannot commit with the handler's rows";
        self.connection.place().await.error(StoreErrorKind::Misconfigured, what)
    }

    async fn find(&mut self, id: &RecordId) -> Result<Option<Found>, StoreError> {
        match self.connection.find(id).await {
            Ok(found) => Ok(found),
            Err(RowError::Driver(error)) => Err(self.fault("read a record", error).await),
            Err(damaged) => Err(self.connection.place().await.unreadable(id, damaged)),
        }
    }

    async fn put(&mut self, id: &RecordId, row: Option<i64>, record: &Record) -> Result<(), StoreError> {
        let written = match row {
            Some(row) => self.connection.update(row, record).await,
            None => self.connection.insert(id, record).await.map(drop),
        };
        match written {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fault("write a record", error).await),
        }
    }

    /// A record in another file than the rows could not commit with them.
    async fn check_file(&mut self) -> Result<(), StoreError> {
        let Some(store) = &self.records.file else { return Ok(()) };
        let own = self.connection.place().await;
        let file = |place: &Place| identity(place.path())[0];
        if own.path() == store.path() || (file(&own).is_some() && file(&own) == file(store)) {
            return Ok(());
        }
        let what = format!(
            "the transaction is one of {}, where a record of this store could not commit with the handler's rows; open the store \
             on that file, with `beside_other_tables`, or leave `store` out",
            own.path().display()
        );
        Err(store.error(StoreErrorKind::Misconfigured, what))
    }

    async fn fault(&mut self, doing: &str, error: C::Failure) -> StoreError {
        let place = self.connection.place().await;
        let unavailable = |what: &str| {
            let what =
                format!("cannot {doing}: {what} ({error}); roll back, and run the whole transaction again");
            place.error(StoreErrorKind::Unavailable, what)
        };
        let said = if error.to_string().contains("no such table: main.idem_record") {
            let what = format!("its table is missing; make it at start-up, with `{}`", C::CURE);
            place.error(StoreErrorKind::Misconfigured, what)
        } else if is_too_late(&error) {
            unavailable(
                "another connection wrote after this transaction had read, so it cannot write any more",
            )
        } else if is_busy(&error) {
            unavailable("another connection is writing")
        } else {
            return place.fault(doing, error);
        };
        said.because(error)
    }
}

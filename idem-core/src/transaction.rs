//! Transactions that a record can commit with.

use std::future::Future;
use std::sync::Arc;

use crate::handler::OnDuplicate;
use crate::machine::{Entry, Record, Settlement, Verdict};
use crate::store::Store;
use crate::{RecordId, StoreError};

/// A transaction that a plain `fn` can write its record in: one of rusqlite.
///
/// # Contract
///
/// 1. [`enter`](Self::enter) answers and writes what [`machine::enter`](crate::machine::enter) does on the record found, and
///    [`settle`](Self::settle) what [`machine::settle`](crate::machine::settle) does. Two transactions that enter one record at once
///    are never both told to run.
/// 2. What is written commits with the transaction, and not before.
/// 3. A result that the record holds from the start, as that of a handler which has only one, is settled too: if the record is no longer
///    there, or the transaction can no longer commit, that is an error.
/// 4. After an error of `enter` nothing of it is left, or the transaction can no longer commit. After one of `settle` it cannot.
#[diagnostic::on_unimplemented(
    message = "the record of a plain `fn` cannot be written in `{Self}`",
    label = "not a transaction that a plain `fn` can write in",
    note = "a plain `fn` takes `tx: &rusqlite::Transaction<'_>` (feature `sqlite`); with a transaction of sqlx the handler is an `async fn`"
)]
pub trait BlockingTransaction {
    /// Where in its database the records are. The default is what the store makes if it is not told otherwise.
    type Records: Clone + Default;

    /// Asks for the right to run, and writes that the work is done.
    ///
    /// # Errors
    /// If the database did not take part; the body does not run.
    fn enter(&self, records: &Self::Records, entry: &Entry, rules: &Rules<'_>)
    -> Result<Entered, StoreError>;

    /// Writes how the body ended.
    ///
    /// # Errors
    /// If it cannot be written, or is already lost. The transaction is lost then.
    fn settle(
        &self,
        records: &Self::Records,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError>;
}

/// A transaction that an `async fn` can write its record in: one of sqlx.
///
/// Its contract is that of [`BlockingTransaction`].
#[diagnostic::on_unimplemented(
    message = "the record of an `async fn` cannot be written in `{Self}`",
    label = "not a transaction that an `async fn` can write in",
    note = "an `async fn` takes `tx: &mut sqlx::Transaction<'_, Postgres>` (feature `postgres`) or `&mut sqlx::Transaction<'_, Sqlite>` (feature `sqlx-sqlite`); with a transaction of rusqlite the handler is a plain `fn`"
)]
pub trait AsyncTransaction: Send {
    /// Where in its database the records are. The default is what the store makes if it is not told otherwise.
    type Records: Clone + Default + Send + Sync;

    /// Asks for the right to run, and writes that the work is done.
    ///
    /// # Errors
    /// If the database did not take part; the body does not run.
    ///
    /// # Cancellation
    /// The record may have been written: the transaction has to be rolled back, as one that is dropped is.
    fn enter(
        &mut self,
        records: &Self::Records,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> impl Future<Output = Result<Entered, StoreError>> + Send;

    /// Writes how the body ended.
    ///
    /// # Errors
    /// If it cannot be written. The transaction is lost then.
    ///
    /// # Cancellation
    /// As for [`enter`](Self::enter).
    fn settle(
        &mut self,
        records: &Self::Records,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// What else an entry goes by.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// The records of the handler's former scopes, which answer for the new one.
    pub former: &'r [RecordId],
    /// What to do while another transaction has the message.
    pub on_duplicate: OnDuplicate,
}

/// The answer to an entry.
#[derive(Clone, Debug)]
#[must_use = "treating two answers alike loses or repeats messages"]
pub enum Entered {
    /// Run: the record is written, over this one if there was one.
    Run {
        /// To be put back if the body ends with an error.
        before: Option<Box<Record>>,
    },
    /// Do not run, and answer this. Nothing is written.
    Judged(Verdict),
    /// Another transaction has entered the message, and has neither been committed nor rolled back.
    Racing,
}

/// A store whose records can be written in transactions of its database.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no records that this handler's transaction could write",
    label = "not a store of the transaction's own database",
    note = "beside `tx`, leave `store` out, or give it a store of the same kind: `PostgresStore` for PostgreSQL, `SqliteStore` for SQLite"
)]
pub trait HoldsRecords<Records>: Store {
    /// Where the records are.
    fn records(&self) -> Records;
}

#[diagnostic::do_not_recommend]
impl<Records, S: HoldsRecords<Records> + ?Sized> HoldsRecords<Records> for Arc<S> {
    fn records(&self) -> Records {
        (**self).records()
    }
}

#[diagnostic::do_not_recommend]
impl<T: BlockingTransaction + ?Sized> BlockingTransaction for &T {
    type Records = T::Records;

    fn enter(
        &self,
        records: &Self::Records,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        (**self).enter(records, entry, rules)
    }

    fn settle(
        &self,
        records: &Self::Records,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        (**self).settle(records, entry, before, settlement)
    }
}

#[diagnostic::do_not_recommend]
impl<T: BlockingTransaction + ?Sized> BlockingTransaction for &mut T {
    type Records = T::Records;

    fn enter(
        &self,
        records: &Self::Records,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        (**self).enter(records, entry, rules)
    }

    fn settle(
        &self,
        records: &Self::Records,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        (**self).settle(records, entry, before, settlement)
    }
}

#[diagnostic::do_not_recommend]
impl<T: AsyncTransaction + ?Sized> AsyncTransaction for &mut T {
    type Records = T::Records;

    fn enter(
        &mut self,
        records: &Self::Records,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> impl Future<Output = Result<Entered, StoreError>> + Send {
        (**self).enter(records, entry, rules)
    }

    fn settle(
        &mut self,
        records: &Self::Records,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        (**self).settle(records, entry, before, settlement)
    }
}

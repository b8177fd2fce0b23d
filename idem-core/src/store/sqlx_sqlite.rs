//! Transactions of sqlx's SQLite.
//!
//! A statement is run by the connection's own thread, in the order in which statements were sent, and to its end even if nobody waits for it
//! any more. So a claim that is dropped midway is in the transaction or is not, and what sqlx sends when the transaction is dropped
//! comes after it.

use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteRow, SqliteTransactionManager};
use sqlx::{Connection as _, Executor, Row, Sqlite, SqliteConnection, Transaction, TypeInfo, ValueRef};
use sqlx_core::transaction::TransactionManager;

use super::sqlite_record::code::{Failure, is_busy, is_too_late};
use super::sqlite_record::row::{Columns, Found, RowError, Values, record};
use super::sqlite_record::{Connection, Inbox, Place, SqliteRecords, statements};
use crate::clock::Clock;
use crate::handler::OnDuplicate;
use crate::machine::{Entry, Record, Settlement};
use crate::run::patience::Patience;
use crate::transaction::{AsyncTransaction, Entered, Rules};
use crate::{Body, RecordId, StoreError, StoreErrorKind, Token};

mod schema;

/// Writes the record beside the handler's rows, in one file. In a transaction within a transaction (a savepoint), it goes with the rows if
/// that is rolled back, and commits with the outer one.
#[diagnostic::do_not_recommend]
impl AsyncTransaction for Transaction<'_, Sqlite> {
    type Records = SqliteRecords;

    async fn enter(
        &mut self,
        records: &SqliteRecords,
        entry: &Entry,
        rules: &Rules<'_>,
    ) -> Result<Entered, StoreError> {
        let wait = match rules.on_duplicate {
            OnDuplicate::Error => Duration::ZERO,
            OnDuplicate::Wait(limit) => limit,
        };
        inbox(self, records, wait).enter(entry, rules).await
    }

    async fn settle(
        &mut self,
        records: &SqliteRecords,
        entry: &Entry,
        before: Option<&Record>,
        settlement: &Settlement,
    ) -> Result<(), StoreError> {
        inbox(self, records, Duration::ZERO).settle(entry, before, settlement).await
    }
}

fn inbox<'i>(
    connection: &'i mut SqliteConnection,
    records: &'i SqliteRecords,
    wait: Duration,
) -> Inbox<'i, Sqlx<'i>> {
    Inbox { connection: Sqlx { connection, clock: &records.clock, wait }, records }
}

/// A connection, and for how long it is to try for the lock.
struct Sqlx<'i> {
    connection: &'i mut SqliteConnection,
    clock: &'i Clock,
    wait: Duration,
}

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

/// Between two tries for the lock. Each of them waits for the connection's own `busy_timeout`, but not in a transaction that has read.
const PAUSE: Duration = Duration::from_millis(20);

impl Sqlx<'_> {
    /// How many rows a statement has written.
    async fn write(&mut self, query: Query) -> Result<u64, sqlx::Error> {
        query.execute(&mut *self.connection).await.map(|done| done.rows_affected())
    }
}

impl Connection for Sqlx<'_> {
    const CURE: &'static str = "idem::inbox::SqliteRecords::ensure_schema(&mut connection)";

    type Failure = sqlx::Error;

    async fn insert(&mut self, id: &RecordId, record: &Record) -> Result<bool, sqlx::Error> {
        let mut patience = Patience::begin(self.clock);
        loop {
            let insert = sqlx::query(statements::INSERT).bind(id.as_bytes().as_slice());
            match self.write(bound(insert, record)).await {
                Err(error) if is_busy(&error) && !is_too_late(&error) && patience.spent() < self.wait => {
                    patience.sleep(PAUSE).await;
                }
                done => return done.map(|rows| rows == 1),
            }
        }
    }

    async fn update(&mut self, row: i64, record: &Record) -> Result<(), sqlx::Error> {
        self.write(bound(sqlx::query(statements::UPDATE).bind(row), record)).await.map(drop)
    }

    async fn remove(&mut self, row: i64) -> Result<(), sqlx::Error> {
        self.write(sqlx::query(statements::REMOVE).bind(row)).await.map(drop)
    }

    async fn keep(&mut self, id: &RecordId, token: &Token, body: &Body) -> Result<bool, sqlx::Error> {
        let keep = sqlx::query(statements::KEEP)
            .bind(id.as_bytes().as_slice())
            .bind(token.as_bytes().as_slice())
            .bind(body.as_slice());
        self.write(keep).await.map(|rows| rows == 1)
    }

    async fn find(&mut self, id: &RecordId) -> Result<Option<Found>, RowError<sqlx::Error>> {
        let find = sqlx::query(statements::FIND).bind(id.as_bytes().as_slice());
        let row = find.fetch_optional(&mut *self.connection).await.map_err(RowError::Driver)?;
        Ok(row.as_ref().map(record).transpose()?)
    }

    /// sqlx counts what it has begun itself, and does not ask SQLite.
    fn is_over(&self) -> bool {
        !self.connection.is_in_transaction()
    }

    /// Within a transaction another one cannot be begun, and to try changes nothing. It is a way to the connection's thread and back, so
    /// it is asked for only where a body has failed.
    async fn has_ended(&mut self) -> bool {
        if self.is_over() {
            return true;
        }
        let ended = self.connection.execute("begin").await.is_ok();
        if ended {
            let _ = self.connection.execute("rollback").await;
        }
        ended
    }

    /// Rolls back what sqlx knows to be begun, and begins it anew: else what the caller still wrote in its transaction would commit at once,
    /// one statement after the other.
    async fn give_up(&mut self) {
        let mut levels = 0;
        while self.connection.is_in_transaction() {
            let depth = SqliteTransactionManager::get_transaction_depth(self.connection);
            if SqliteTransactionManager::rollback(self.connection).await.is_ok() {
                levels += 1;
                continue;
            }
            // After some errors SQLite has rolled back by itself. sqlx does not know, and would leave its level to who has the connection
            // next.
            if depth == 1 {
                let _ = self.connection.execute("begin").await;
            }
            return;
        }
        for _ in 0..levels {
            if SqliteTransactionManager::begin(self.connection, None).await.is_err() {
                return;
            }
        }
    }

    async fn place(&mut self) -> Place {
        place_of(self.connection).await
    }
}

/// The file of a connection.
async fn place_of(connection: &mut SqliteConnection) -> Place {
    // The first one is the main database. If this fails, so did what it was to be told with.
    let main = connection.fetch_optional("pragma database_list").await;
    let path = main.ok().flatten().and_then(|main| main.try_get::<String, _>(2).ok());
    Place::of_connection(path.as_deref())
}

/// A record, behind whose it is.
fn bound(query: Query, record: &Record) -> Query {
    let values = Values::of(record);
    query
        .bind(values.state)
        .bind(values.token)
        .bind(values.fence)
        .bind(values.tries)
        .bind(values.fingerprint)
        .bind(values.made_at)
        .bind(values.drop_at)
        .bind(values.lease_at)
        .bind(values.prior)
        .bind(values.done_at)
        .bind(values.body_until)
        .bind(values.body)
}

impl Failure for sqlx::Error {
    fn code(&self) -> Option<i32> {
        self.as_database_error()?.code()?.parse().ok()
    }

    fn own_kind(&self) -> StoreErrorKind {
        match self {
            // The connection's thread is gone.
            Self::WorkerCrashed | Self::Io(_) => StoreErrorKind::Unavailable,
            _ => StoreErrorKind::Misconfigured,
        }
    }

    fn unquoted(&self) -> String {
        match self.code() {
            Some(code) => format!("code {code}"),
            None => self.to_string(),
        }
    }
}

// Without the `Option`, sqlx takes null for 0 or for no bytes; and a text is bytes to it.
impl Columns for SqliteRow {
    fn integer(&self, column: usize) -> Option<i64> {
        self.try_get(column).ok().flatten()
    }

    fn blob(&self, column: usize) -> Option<&[u8]> {
        let is_blob = self.try_get_raw(column).is_ok_and(|value| value.type_info().name() == "BLOB");
        is_blob.then(|| self.try_get(column).ok().flatten()).flatten()
    }

    fn is_null(&self, column: usize) -> bool {
        self.try_get_raw(column).is_ok_and(|value| value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::block_on;

    #[test]
    fn null_and_texts_are_no_numbers_and_no_blobs() {
        let row: SqliteRow = block_on(async {
            let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
            sqlx::query("select null, 0, x'', 'text'").fetch_one(&mut connection).await.unwrap()
        });
        assert_eq!([0, 1, 2, 3].map(|column| row.integer(column)), [None, Some(0), None, None]);
        assert_eq!([0, 1, 2, 3].map(|column| row.blob(column)), [None, None, Some(&[][..]), None]);
        assert_eq!([0, 1, 2, 3].map(|column| row.is_null(column)), [true, false, false, false]);
    }
}

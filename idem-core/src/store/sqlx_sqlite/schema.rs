//! The table, made by a connection of sqlx.

use sqlx::{AssertSqlSafe, Connection, Executor, Row, SqliteConnection};

use super::{SqliteRecords, place_of, statements};
use crate::StoreError;

impl SqliteRecords {
    /// Makes the table in the database of `connection`, if it is not there: at start-up, before the first handler that takes a
    /// transaction of it. In a transaction, the table commits with that; else at once.
    ///
    /// It is the table of `SqliteStore`: that may be opened on the same file, with `beside_other_tables`, to look at the records, to forget
    /// and to sweep them.
    ///
    /// # Errors
    /// The message names the file and the cause.
    /// - [`Foreign`](crate::StoreErrorKind::Foreign): there is another table of this name, or one that a newer idem has made.
    /// - [`ReadOnly`](crate::StoreErrorKind::ReadOnly), [`Full`](crate::StoreErrorKind::Full),
    ///   [`Corrupt`](crate::StoreErrorKind::Corrupt): the file is.
    /// - [`Unavailable`](crate::StoreErrorKind::Unavailable): another connection kept it locked for as long as this one waits.
    ///
    /// # Cancellation
    /// The table is there, or nothing is.
    ///
    /// # Examples
    /// ```
    /// # extern crate idem_core as idem;
    /// use idem::inbox::SqliteRecords;
    /// use sqlx::SqlitePool;
    ///
    /// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
    /// let pool = SqlitePool::connect("sqlite://shop.db").await?;
    /// let mut connection = pool.acquire().await?;
    /// SqliteRecords::ensure_schema(&mut connection).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ensure_schema(connection: &mut SqliteConnection) -> Result<(), StoreError> {
        if let Err(error) = ensure(connection).await {
            return Err(place_of(connection).await.fault("make its table", error));
        }
        for statement in statements::FITTING {
            // Those that sqlx has prepared before it keeps, whatever has become of their table. An explanation is made anew.
            let explanation = AssertSqlSafe(format!("explain {statement}"));
            if let Err(error) = connection.execute(explanation).await {
                return Err(place_of(connection).await.not_ours(error));
            }
        }
        Ok(())
    }
}

async fn ensure(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    if is_there(connection).await? {
        return Ok(());
    }
    if connection.is_in_transaction() {
        return connection.execute(statements::SCHEMA).await.map(drop);
    }
    // The lock first, so that of two who look at once the second finds the first one's table.
    let mut making = connection.begin_with("begin immediate").await?;
    if !is_there(&mut making).await? {
        making.execute(statements::SCHEMA).await?;
    }
    making.commit().await
}

async fn is_there(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    connection.fetch_one(statements::IS_THERE).await?.try_get(0)
}

//! What a connection of the store's own begins with.

use std::time::Duration;

use sqlx::{PgConnection, Row};

/// Settings that hold whatever the database's defaults are.
#[derive(Clone)]
pub(super) struct Session {
    statement_timeout: String,
    lock_timeout: String,
}

impl Session {
    /// The server gives up before the caller does, so that nothing goes on there that nobody waits for.
    pub(super) fn within(timeout: Duration) -> Self {
        let millis = timeout.as_millis().clamp(1, 1 << 30);
        let lock = (millis * 3 / 4).max(1);
        Self { statement_timeout: millis.to_string(), lock_timeout: lock.to_string() }
    }

    /// The same for one transaction, which it begins. The numbers have nothing of a user's in them.
    pub(super) fn of_one_transaction(&self) -> String {
        include_str!("transaction.sql")
            .replace("{statement_timeout}", &self.statement_timeout)
            .replace("{lock_timeout}", &self.lock_timeout)
    }

    pub(super) async fn begin(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let row = sqlx::query(include_str!("session.sql"))
            .persistent(false)
            .bind(&self.statement_timeout)
            .bind(&self.lock_timeout)
            .fetch_one(connection)
            .await?;
        if row.try_get(0)? {
            return Err(sqlx::Error::Configuration(Box::new(Replica)));
        }
        Ok(())
    }
}

/// The server replays what another one writes.
#[derive(Debug)]
pub(super) struct Replica;

impl std::fmt::Display for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the server is in recovery: it is a replica of another one")
    }
}

impl std::error::Error for Replica {}

//! Operations behind a proxy that gives each transaction another connection to the server, as `PgBouncer`'s transaction mode does.
//!
//! There, a statement that was prepared is not where it is asked for, or another client's of the same name is; and what is set for a
//! session stays in a connection that strangers get next. sqlx prepares each statement in a step of its own, and never gives back one that
//! it was told not to keep. So each operation is a transaction, which stays on one connection: it says what holds for it alone, prepares
//! without a name, and commits. That is four round trips instead of one.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, SqlSafeStr, SqlStr};

use super::ask::{Ask, Heard};
use super::session::Session;

/// What each operation begins with.
pub(super) struct Proxied {
    begin: SqlStr,
}

impl Proxied {
    /// For options that keep no prepared statements: nobody else has a reason to turn that off.
    pub(super) fn by(options: &PgConnectOptions, session: &Session) -> Option<Self> {
        let url = options.to_url_lossy();
        let keeps_none =
            url.query_pairs().any(|(name, value)| name == "statement-cache-capacity" && value == "0");
        keeps_none.then(|| Self { begin: AssertSqlSafe(session.of_one_transaction()).into_sql_str() })
    }

    pub(super) async fn begin(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(self.begin.clone()).execute(connection).await.map(drop)
    }

    pub(super) async fn commit(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("commit").execute(connection).await.map(drop)
    }

    /// What a statement answers that has been committed. After an error the transaction may be open still: the connection must be closed.
    pub(super) async fn hear<H: Heard>(
        &self,
        connection: &mut PgConnection,
        ask: Ask,
    ) -> Result<H, sqlx::Error> {
        self.begin(connection).await?;
        let heard = H::hear(ask.persistent(false), connection).await?;
        Self::commit(connection).await?;
        Ok(heard)
    }
}

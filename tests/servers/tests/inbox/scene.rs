//! A schema of its own for a test, with the table that its handlers write in.

use idem::{PostgresStore, PostgresStoreBuilder};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Postgres, Transaction};

use crate::database::{execute, fresh_name, migrated, run, url};

pub(crate) type Db = Postgres;
pub(crate) type NamedStore = PostgresStore;

pub(crate) struct Scene {
    pub(crate) schema: String,
    pub(crate) pool: PgPool,
}

/// Where connections look for tables: in this schema.
pub(crate) fn options(url: &str, schema: &str) -> PgConnectOptions {
    let options: PgConnectOptions = url.parse().expect("a URL");
    options.options([("search_path", schema)])
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::on(&url())
    }

    pub(crate) fn on(url: &str) -> Self {
        let schema = fresh_name();
        let _ = migrated(PostgresStore::builder(url).schema(&schema));
        execute(url, &format!("create table {schema}.charge (message text not null)"));
        Self { pool: pool(url, &schema), schema }
    }

    /// The store that knows the table's schema.
    pub(crate) fn store(&self) -> PostgresStoreBuilder {
        PostgresStore::builder(url()).schema(&self.schema)
    }

    pub(crate) async fn begin(&self) -> Transaction<'static, Postgres> {
        self.pool.begin().await.expect("a transaction")
    }

    /// How often the message took effect.
    pub(crate) async fn charges(&self, message: &str) -> i64 {
        let count =
            sqlx::query_scalar("select count(*) from charge where message = $1").bind(message.to_owned());
        count.fetch_one(&self.pool).await.expect("a number")
    }

    pub(crate) async fn records(&self) -> i64 {
        sqlx::query_scalar("select count(*) from idem_record").fetch_one(&self.pool).await.expect("a number")
    }

    /// Returns once some session waits for a lock that another one has.
    pub(crate) async fn somebody_waits(&self) {
        let waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted";
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&self.pool).await.expect("a number") == 0 {
            assert!(std::time::Instant::now() < deadline, "nobody waits");
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) fn pool(url: &str, schema: &str) -> PgPool {
    run(async { PgPoolOptions::new().max_connections(4).connect_lazy_with(options(url, schema)) })
}

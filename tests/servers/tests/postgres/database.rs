//! The server that tests share, and in it a schema for each.

use std::future::Future;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use idem::{PostgresStore, PostgresStoreBuilder};
use idem_servers::PostgresServer;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime::Runtime;

/// Ends with this process.
static SERVER: LazyLock<PostgresServer> = LazyLock::new(|| PostgresServer::start(&[]));

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
});

/// Runs `work` in the runtime that all stores of these tests live in.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    RUNTIME.block_on(work)
}

/// A name that no other test of this process has.
pub(crate) fn fresh_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn url() -> String {
    SERVER.url("postgres")
}

/// A store whose table is new, in a schema of its own.
pub(crate) fn fresh() -> PostgresStoreBuilder {
    migrated(PostgresStore::builder(url()).schema(fresh_name()))
}

pub(crate) fn migrated(builder: PostgresStoreBuilder) -> PostgresStoreBuilder {
    run(builder.migrate()).expect("a table");
    builder
}

pub(crate) fn open(builder: &PostgresStoreBuilder) -> PostgresStore {
    run(builder.open()).expect("a store")
}

/// Runs statements of the test's own.
pub(crate) fn execute(url: &str, statements: &str) {
    run(async {
        let mut connection = PgConnection::connect(url).await.expect("a connection");
        let done = sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await;
        done.unwrap_or_else(|error| panic!("{statements}: {error}"));
    });
}

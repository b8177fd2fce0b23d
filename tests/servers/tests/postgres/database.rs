//! The server that tests share, and in it a schema for each.

use std::future::Future;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use idem::{PostgresStore, PostgresStoreBuilder};
use idem_servers::PostgresServer;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

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

/// Lets `work` go on there.
pub(crate) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    RUNTIME.spawn(work)
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

/// One number that a statement answers with.
pub(crate) fn number(url: &str, statement: &str) -> i64 {
    run(async {
        let mut connection = PgConnection::connect(url).await.expect("a connection");
        let found = sqlx::query_scalar(AssertSqlSafe(statement.to_owned())).fetch_one(&mut connection).await;
        found.unwrap_or_else(|error| panic!("{statement}: {error}"))
    })
}

/// Looks again until a statement answers with `expected`.
pub(crate) fn wait_for(url: &str, statement: &str, expected: i64) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut found = number(url, statement);
    while found != expected {
        assert!(std::time::Instant::now() < deadline, "{statement} still says {found}, not {expected}");
        std::thread::sleep(std::time::Duration::from_millis(20));
        found = number(url, statement);
    }
}

/// A database of its own on the shared server, with these defaults.
pub(crate) fn database(settings: &[(&str, &str)]) -> String {
    let name = fresh_name();
    execute(&url(), &format!("create database {name}"));
    for (setting, value) in settings {
        execute(&url(), &format!("alter database {name} set {setting} = '{value}'"));
    }
    SERVER.url(&name)
}

/// A session of the test's own, which does what others do to the store: it holds locks and takes its time.
pub(crate) struct Other(PgConnection);

impl Other {
    pub(crate) fn at(url: &str) -> Self {
        Self(run(PgConnection::connect(url)).expect("a connection"))
    }

    pub(crate) fn does(&mut self, statements: &str) {
        self.tries(statements).expect("statements that work");
    }

    pub(crate) fn tries(&mut self, statements: &str) -> Result<(), sqlx::Error> {
        run(sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut self.0)).map(drop)
    }

    pub(crate) fn finds(&mut self, statement: &str) -> i64 {
        run(sqlx::query_scalar(AssertSqlSafe(statement.to_owned())).fetch_one(&mut self.0)).expect("a number")
    }
}

/// The server's clock in microseconds.
pub(crate) const NOW: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";

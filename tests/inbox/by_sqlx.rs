//! The same of sqlx's SQLite, on the same files.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{Sqlite, Transaction};

use crate::files::File;

mod both;
mod cancelled;
pub(crate) mod handlers;
mod races;
mod schema;
mod transactions;
mod trouble;

pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path)
}

/// Connections that wait for a lock as long as this, and no longer.
pub(crate) async fn waiting(path: &Path, busy: Duration) -> SqlitePool {
    let pool = SqlitePoolOptions::new().max_connections(4);
    pool.connect_with(options(path).busy_timeout(busy)).await.unwrap()
}

/// A file, and connections to it.
struct Scene {
    file: File,
    pool: SqlitePool,
}

impl Scene {
    async fn new() -> Self {
        let file = File::new();
        let pool = waiting(&file.path, Duration::from_secs(20)).await;
        Self { file, pool }
    }

    async fn begin(&self) -> Transaction<'static, Sqlite> {
        self.pool.begin().await.unwrap()
    }

    /// Effects of the message, and all records.
    fn found(&self, message: &str) -> (u32, u32) {
        (self.file.charges(message), self.file.records())
    }
}

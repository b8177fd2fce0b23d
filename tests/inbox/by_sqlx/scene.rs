//! A file, and connections of sqlx to it.

use std::future::{Ready, ready};
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{Sqlite, Transaction};

use super::run;
use crate::files::File;

pub(crate) type Db = Sqlite;
pub(crate) type NamedStore = idem::SqliteStore;

pub(crate) struct Scene {
    pub(crate) file: File,
    pub(crate) pool: SqlitePool,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let file = File::new();
        let pool = run(async { waiting(&file.path, Duration::from_secs(60)) });
        Self { file, pool }
    }

    pub(crate) async fn begin(&self) -> Transaction<'static, Sqlite> {
        self.pool.begin().await.unwrap()
    }

    /// Effects of the message, and all records.
    pub(crate) fn found(&self, message: &str) -> (u32, u32) {
        (self.file.charges(message), self.file.records())
    }

    pub(crate) fn charges(&self, message: &str) -> Ready<i64> {
        ready(self.file.charges(message).into())
    }

    pub(crate) fn records(&self) -> Ready<i64> {
        ready(self.file.records().into())
    }
}

pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path)
}

/// Connections that wait for a lock as long as this, and no longer.
pub(crate) fn waiting(path: &Path, busy: Duration) -> SqlitePool {
    SqlitePoolOptions::new().max_connections(4).connect_lazy_with(options(path).busy_timeout(busy))
}

//! The shop's own file: an account, and what was booked on it.

use std::path::{Path, PathBuf};

use idem::SqliteStore;
use rusqlite::Connection;

use crate::consumers::BoxError;

/// The file, in a folder that is removed with it.
pub struct Shop {
    pub folder: PathBuf,
}

impl Shop {
    pub fn open_new() -> Result<Self, BoxError> {
        let name = format!("idem-inbox-example-{}-{}", std::process::id(), number());
        let shop = Self { folder: std::env::temp_dir().join(name) };
        std::fs::create_dir_all(&shop.folder)?;
        let connection = open(&shop.folder)?;
        connection.execute_batch(
            "create table account (balance integer not null);
             create table booking (cents integer not null);
             insert into account values (0);",
        )?;
        // Once, at start-up.
        SqliteStore::ensure_schema(&connection)?;
        Ok(shop)
    }

    /// How many bookings there are, and the balance.
    pub fn books(&self) -> Result<(i64, i64), BoxError> {
        let books = "select (select count(*) from booking), (select balance from account)";
        Ok(open(&self.folder)?.query_row(books, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn open(folder: &Path) -> Result<Connection, BoxError> {
    let connection = Connection::open(folder.join("shop.db"))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    Ok(connection)
}

/// The shops of this process, counted.
fn number() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

//! A database file of the caller's own, and handlers that write in it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use idem::{Key, Outcome, SqliteStore, idempotent};
use rusqlite::{Connection, Transaction};

use crate::ends::{ChargeError, End};

impl From<rusqlite::Error> for ChargeError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Other(error.to_string())
    }
}

pub(crate) fn write(tx: &Connection, message: &str) -> Result<(), rusqlite::Error> {
    tx.execute("insert into charge (message) values (?1)", [message]).map(drop)
}

#[idempotent(key = "msg:<message>", tx = tx, final_error = ChargeError::is_final)]
pub(crate) fn charge(
    message: &str,
    end: End,
    tx: &Transaction<'_>,
    #[key] key: &Key,
) -> Result<Outcome<String>, ChargeError> {
    write(tx, message)?;
    match end {
        End::Well => Ok(format!("receipt of {key}").into()),
        End::Badly => Err(ChargeError::Other("no".to_owned())),
        End::Finally => Err(ChargeError::Declined("never".to_owned())),
    }
}

/// Has nothing to replay.
#[idempotent(key = "msg:<message>", tx = tx)]
pub(crate) fn note(message: &str, end: End, tx: &Transaction<'_>) -> Result<(), ChargeError> {
    write(tx, message)?;
    if end == End::Well { Ok(()) } else { Err(ChargeError::Other("no".to_owned())) }
}

#[idempotent(key = "msg:<message>", tx = tx, store = store, payload(cents))]
pub(crate) fn elsewhere(
    message: &str,
    cents: u32,
    tx: &Transaction<'_>,
    store: &SqliteStore,
) -> Result<u32, ChargeError> {
    write(tx, message)?;
    Ok(cents)
}

/// A file in a folder of its own, with the tables of a program and of idem.
pub(crate) struct File {
    folder: PathBuf,
    pub(crate) path: PathBuf,
}

impl File {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("idem-inbox-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let file = Self { path: folder.join("shop.db"), folder };
        let connection = file.open();
        connection.execute_batch("create table charge (message text not null)").unwrap();
        SqliteStore::ensure_schema(&connection).unwrap();
        file
    }

    pub(crate) fn open(&self) -> Connection {
        open(&self.path)
    }

    /// The store that looks after the records.
    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::builder(&self.path).beside_other_tables().open().unwrap()
    }

    /// How often the message took effect.
    pub(crate) fn charges(&self, message: &str) -> u32 {
        let count = "select count(*) from charge where message = ?1";
        self.open().query_row(count, [message], |row| row.get(0)).unwrap()
    }

    pub(crate) fn records(&self) -> u32 {
        self.open().query_row("select count(*) from idem_record", [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

//! Opening a file: what it is, whether it is ours, and nothing written before that is known.
//!
//! The file is never opened but by SQLite: closing any other descriptor of it would drop all locks that this process holds
//! on it (POSIX), and with them those of another store on the same file.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{file_system, shared};
use crate::store::sqlite_record::Place;
use crate::{StoreError, StoreErrorKind};

/// "idem", where SQLite keeps the name of the program that a file belongs to.
const APPLICATION_ID: i32 = 0x6964_656d;
/// Raised whenever `schema.sql` changes; each step then gets its migration.
const SCHEMA_VERSION: i32 = 3;
/// Rows in the order of their arrival, and their keys in an index that is behind.
const SCHEMA: &str = concat!(
    "create table idem_record (\n",
    "    id         integer primary key,\n",
    "    k          blob    not null check (length(k) = 32),\n",
    include_str!("../sqlite_record/columns.sql"),
    include_str!("keys.sql"),
    include_str!("room.sql"),
);

/// Where the file of a store lies: absolute, free of links, on a file system that idem can use.
pub(super) fn locate(path: &Path) -> Result<Place, StoreError> {
    let given = Place::new(path.to_owned());
    let misconfigured = |what: String| given.error(StoreErrorKind::Misconfigured, what);
    // A file would be made that has the URL for its name; `./file:…` is one that is meant.
    let is_of = |scheme: &&str| path.to_str().is_some_and(|path| path.starts_with(scheme));
    if let Some(scheme) = ["sqlite:", "file:"].iter().find(|scheme| is_of(scheme)) {
        return Err(misconfigured(format!("this is a URL; name the file by its path, without `{scheme}`")));
    }
    let name = match path.file_name() {
        // SQLite would make a database in memory or a temporary one, a new one for each connection.
        Some(name) if path != Path::new(":memory:") => name,
        _ => return Err(misconfigured("this does not name a file".into())),
    };
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let resolved = match path.canonicalize() {
        Ok(resolved) => resolved,
        // A link to nowhere ends up here too; SQLite follows it.
        Err(_) => parent
            .canonicalize()
            .map_err(|cause| {
                misconfigured(format!("its directory {} cannot be used: {cause}", parent.display()))
                    .because(cause)
            })?
            .join(name),
    };
    match std::fs::metadata(&resolved) {
        Ok(found) if found.is_dir() => return Err(misconfigured("this is a directory, not a file".into())),
        Ok(found) if !found.is_file() => return Err(misconfigured("this is not a regular file".into())),
        _ => {}
    }
    if let Some(kind) = file_system::network(&resolved) {
        return Err(misconfigured(format!(
            "it lies on a network file system ({kind}), where SQLite cannot keep processes apart; put it on a local disk"
        )));
    }
    Ok(Place::new(resolved))
}

/// The connection that writes: the file is ours, in write-ahead mode, and has the schema.
pub(super) fn writer(
    place: &Place,
    wait: Duration,
    max_bytes: Option<u64>,
    shared: bool,
) -> Result<Connection, StoreError> {
    let connection = connect(place, wait, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    if shared { join(connection, place, max_bytes) } else { set_up(connection, place, wait, max_bytes) }
}

/// A file that is not ours alone: its settings stay as they are.
fn join(connection: Connection, place: &Place, max_bytes: Option<u64>) -> Result<Connection, StoreError> {
    let fault = |error| place.fault("set up the file", error);
    let mode: String = connection.query_row("pragma journal_mode", [], |row| row.get(0)).map_err(fault)?;
    if mode != "wal" {
        return Err(place.error(
            StoreErrorKind::Misconfigured,
            format_args!(
                "it is in mode `{mode}`, and beside other tables idem changes no settings of a file; run `pragma journal_mode = wal` \
                 on it, once"
            ),
        ));
    }
    settle(&connection).and_then(|()| limit(&connection, max_bytes)).map_err(fault)?;
    shared::ensure(&connection, place)?;
    Ok(connection)
}

fn set_up(
    mut connection: Connection,
    place: &Place,
    wait: Duration,
    max_bytes: Option<u64>,
) -> Result<Connection, StoreError> {
    // One transaction, so that the answers are of one moment: another process may be making the file.
    let owner = connection
        .transaction()
        .and_then(|looking| owner(&looking))
        .map_err(|error| place.fault("open the file", error))?;
    let found = judge(place, owner)?;
    write_ahead(&connection, place, wait)?;
    let fault = |error| place.fault("set up the file", error);
    settle(&connection).map_err(fault)?;
    // Of the first schema all is held twice for a moment, so a file may be as large as it may grow and still be brought to the present one.
    if found != Schema::First {
        limit(&connection, max_bytes).map_err(fault)?;
    }

    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
    let owner = self::owner(&transaction).map_err(fault)?;
    match judge(place, owner)? {
        Schema::Present => Ok(()),
        Schema::Missing => make(&transaction),
        Schema::First => replace_first(&transaction),
        Schema::Second => extend_second(&transaction),
    }
    .map_err(fault)?;
    // Deletes nothing, but a file that can only be read says so now: `begin immediate` alone would make do with reading.
    transaction.execute("delete from idem_record where id < 0", []).map_err(fault)?;
    transaction.commit().map_err(fault)?;
    if found == Schema::First {
        limit(&connection, max_bytes).map_err(fault)?;
        // The whole file is in the log. Whoever looks at it just now may keep it there, until the writer copies it back.
        let _ = connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()));
    }
    Ok(connection)
}

fn make(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    mark_present(connection)
}

fn mark_present(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)
}

fn extend_second(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(include_str!("room.sql"))?;
    mark_present(connection)
}

fn replace_first(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("alter table idem_record rename to idem_record_1")?;
    make(connection)?;
    connection.execute_batch(include_str!("from_1.sql"))
}

/// A connection that only looks.
pub(super) fn reader(place: &Place, wait: Duration) -> Result<Connection, StoreError> {
    // Not opened read-only: a reader may be the first to find a write-ahead log that another process left unfinished.
    let connection = connect(place, wait, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection
        .pragma_update(None, "query_only", true)
        .map_err(|error| place.fault("open the file", error))?;
    Ok(connection)
}

fn connect(place: &Place, wait: Duration, mode: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | mode;
    let fault = |error: rusqlite::Error| match error.sqlite_error_code() {
        // The directory is there (it was resolved), so what is missing is a permission.
        Some(ErrorCode::CannotOpen) => place
            .error(StoreErrorKind::ReadOnly, format_args!("cannot be opened for writing: {error}"))
            .because(error),
        _ => place.fault("open the file", error),
    };
    let connection = Connection::open_with_flags(place.path(), flags).map_err(fault)?;
    connection.busy_timeout(wait).map_err(fault)?;
    Ok(connection)
}

/// What a file says about whose it is.
#[derive(Clone, Copy)]
struct Owner {
    application: i32,
    version: i32,
    tables: i64,
}

#[derive(PartialEq, Eq)]
enum Schema {
    Missing,
    /// The first version, whose table had an index of its own.
    First,
    /// The second, whose rows grew when their results came.
    Second,
    Present,
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    Ok(Owner {
        application: connection.query_row("pragma application_id", [], |row| row.get(0))?,
        version: connection.query_row("pragma user_version", [], |row| row.get(0))?,
        tables: connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?,
    })
}

fn judge(place: &Place, owner: Owner) -> Result<Schema, StoreError> {
    match owner {
        Owner { application: 0, version: 0, tables: 0 } => Ok(Schema::Missing),
        Owner { application: APPLICATION_ID, version: 1, tables: 1.. } => Ok(Schema::First),
        Owner { application: APPLICATION_ID, version: 2, tables: 1.. } => Ok(Schema::Second),
        Owner { application: APPLICATION_ID, version: SCHEMA_VERSION, tables: 1.. } => Ok(Schema::Present),
        Owner { application: APPLICATION_ID, version, .. } if version > SCHEMA_VERSION => Err(place.error(
            StoreErrorKind::Foreign,
            format_args!("its schema has version {version}, made by a newer idem; this one knows {SCHEMA_VERSION}"),
        )),
        Owner { application: APPLICATION_ID, version, .. } => Err(place.error(
            StoreErrorKind::Corrupt,
            format_args!("its schema has version {version}, which no idem has written; this one knows {SCHEMA_VERSION}"),
        )),
        Owner { application, tables, .. } => Err(place.error(
            StoreErrorKind::Foreign,
            format_args!(
                "it belongs to another program (application id {application:#010x}, {tables} tables and indexes); \
                 idem needs a file of its own, or has to be told that it is a guest (`beside_other_tables`)"
            ),
        )),
    }
}

/// Readers and the writer work side by side, and a commit costs one sync.
fn write_ahead(connection: &Connection, place: &Place, wait: Duration) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        let switched: rusqlite::Result<String> =
            connection.query_row("pragma journal_mode = wal", [], |row| row.get(0));
        match switched {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(place.error(
                    StoreErrorKind::Misconfigured,
                    format_args!("it cannot be put into write-ahead mode and stays in mode `{mode}`"),
                ));
            }
            // Two processes that open a new file at once: SQLite does not wait here by itself, because both might.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && started.elapsed() < wait =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(place.fault("set up the file", error)),
        }
    }
}

fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    // There are some twenty.
    connection.set_prepared_statement_cache_capacity(32);
    // The writer thread copies the log back itself, once its callers have their answers.
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

fn limit(connection: &Connection, max_bytes: Option<u64>) -> rusqlite::Result<()> {
    if let Some(bytes) = max_bytes {
        let page: u64 =
            connection.query_row("pragma page_size", [], |row| row.get::<_, i64>(0))?.unsigned_abs();
        let pages = i64::try_from(bytes / page.max(1)).unwrap_or(i64::MAX).clamp(1, i64::from(u32::MAX) - 1);
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_can_only_be_read_is_refused() {
        let dir = std::env::temp_dir().join(format!("idem-open-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let place = locate(&dir.join("idem.db")).unwrap();
        let wait = Duration::from_secs(1);
        let writer = writer(&place, wait, None, false).unwrap();
        // What SQLite falls back to by itself if the file may not be written to; a test that runs as root may always.
        let connection = connect(&place, wait, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let error = set_up(connection, &place, wait, None).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::ReadOnly);
        let text = error.to_string();
        assert!(text.contains("idem.db") && text.contains("read-only"), "{text}");
        drop(writer);
        std::fs::remove_dir_all(dir).unwrap();
    }
}

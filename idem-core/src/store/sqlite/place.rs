//! The file of a store, and what went wrong with it in words.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

use super::row::RowError;
use crate::{RecordId, StoreError, StoreErrorKind};

/// The file, for messages. Clones share the path.
#[derive(Clone, Debug)]
pub(super) struct Place(Arc<Path>);

impl Place {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// An error that names the file; `what` goes on after "SQLite store <file>: ".
    pub(super) fn error(&self, kind: StoreErrorKind, what: impl fmt::Display) -> StoreError {
        StoreError::new(kind, format!("SQLite store {}: {what}", self.0.display()))
    }

    /// What SQLite reported while idem was `doing` something.
    pub(super) fn fault(&self, doing: &str, error: rusqlite::Error) -> StoreError {
        let kind = kind(&error);
        let advice = match kind {
            StoreErrorKind::Full => "the disk, or the size allowed for the file, is full",
            StoreErrorKind::Corrupt => "the file is damaged",
            StoreErrorKind::Foreign => "the file is not an SQLite database",
            StoreErrorKind::ReadOnly => "the file or its directory is read-only",
            StoreErrorKind::Unavailable if is_busy(&error) => "another connection holds its lock",
            _ => "SQLite refused",
        };
        let what = match &error {
            // SQLite quotes the damage.
            rusqlite::Error::SqliteFailure(code, _) if kind == StoreErrorKind::Corrupt => {
                format!("cannot {doing}: {advice} ({code})")
            }
            error => format!("cannot {doing}: {advice} ({error})"),
        };
        self.error(kind, what).because(error)
    }

    /// Why a record could not be read.
    pub(super) fn unreadable(&self, id: &RecordId, error: RowError) -> StoreError {
        match error {
            RowError::Sqlite(error) => self.fault("read a record", error),
            RowError::Damaged(column) => self.error(
                StoreErrorKind::Corrupt,
                format_args!("record {id:?} is damaged: its column `{column}` holds what idem never writes"),
            ),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// SQLite's codes by what a caller can do about them.
fn kind(error: &rusqlite::Error) -> StoreErrorKind {
    let Some(code) = error.sqlite_error_code() else {
        return StoreErrorKind::Misconfigured;
    };
    match code {
        // An I/O error, a lack of memory or an interruption may pass, and leaves the outcome unknown.
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::SystemIoFailure
        | ErrorCode::OutOfMemory
        | ErrorCode::OperationInterrupted
        | ErrorCode::OperationAborted
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::SchemaChanged => StoreErrorKind::Unavailable,
        ErrorCode::DiskFull => StoreErrorKind::Full,
        ErrorCode::DatabaseCorrupt | ErrorCode::TypeMismatch => StoreErrorKind::Corrupt,
        ErrorCode::NotADatabase => StoreErrorKind::Foreign,
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreErrorKind::ReadOnly,
        _ => StoreErrorKind::Misconfigured,
    }
}

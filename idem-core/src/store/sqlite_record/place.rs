//! The file that records are in, and what went wrong with it in words.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::code::{Failure, is_busy, is_short_of_room, kind};
use super::row::RowError;
use crate::{RecordId, StoreError, StoreErrorKind};

/// The file, for messages. Clones share the path.
#[derive(Clone, Debug)]
pub(in crate::store) struct Place(Arc<Path>);

impl Place {
    pub(in crate::store) fn new(path: PathBuf) -> Self {
        Self(path.into())
    }

    /// The file of a connection, as that names it: not at all, if its database has none.
    pub(in crate::store) fn of_connection(path: Option<&str>) -> Self {
        Self::new(PathBuf::from(path.filter(|path| !path.is_empty()).unwrap_or("in memory")))
    }

    pub(in crate::store) fn path(&self) -> &Path {
        &self.0
    }

    /// An error that names the file; `what` goes on after "SQLite store <file>: ".
    pub(in crate::store) fn error(&self, kind: StoreErrorKind, what: impl fmt::Display) -> StoreError {
        StoreError::new(kind, format!("SQLite store {}: {what}", self.0.display()))
    }

    /// What SQLite reported while idem was `doing` something.
    pub(in crate::store) fn fault(&self, doing: &str, error: impl Failure) -> StoreError {
        let kind = kind(&error);
        let advice = match kind {
            StoreErrorKind::Full => "the disk, or the size allowed for the file, is full",
            StoreErrorKind::Corrupt => "the file is damaged",
            StoreErrorKind::Foreign => "the file is not an SQLite database",
            StoreErrorKind::ReadOnly => "the file or its directory is read-only",
            StoreErrorKind::Unavailable if is_busy(&error) => "another connection holds its lock",
            StoreErrorKind::Unavailable if is_short_of_room(&error) => {
                "its `-shm` file cannot grow, as on a full disk"
            }
            _ => "SQLite refused",
        };
        let what = if kind == StoreErrorKind::Corrupt {
            format!("cannot {doing}: {advice} ({})", error.unquoted())
        } else {
            format!("cannot {doing}: {advice} ({error})")
        };
        self.error(kind, what).because(error)
    }

    /// Why a record could not be read.
    pub(in crate::store) fn unreadable(&self, id: &RecordId, error: RowError<impl Failure>) -> StoreError {
        match error {
            RowError::Driver(error) => self.fault("read a record", error),
            RowError::Damaged(column) => self.error(
                StoreErrorKind::Corrupt,
                format_args!("record {id:?} is damaged: its column `{column}` holds what idem never writes"),
            ),
        }
    }

    /// That the table is another's.
    pub(in crate::store) fn not_ours(&self, error: impl Failure) -> StoreError {
        let what = format!("its table `idem_record` is not the one that this version of idem makes: {error}");
        self.error(StoreErrorKind::Foreign, what).because(error)
    }
}

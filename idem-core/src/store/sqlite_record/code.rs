//! SQLite's result codes by what a caller can do about them, whichever driver reports them.

use std::error::Error;

use crate::StoreErrorKind;

/// An error of a driver of SQLite.
pub(in crate::store) trait Failure: Error + Send + Sync + 'static {
    /// SQLite's extended result code; `None` if the driver itself failed.
    fn code(&self) -> Option<i32>;

    /// What it comes to if the driver itself failed.
    fn own_kind(&self) -> StoreErrorKind;

    /// The error without what SQLite quotes of the file.
    fn unquoted(&self) -> String;
}

// https://www.sqlite.org/rescode.html
const PERM: i32 = 3;
const ABORT: i32 = 4;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const NOMEM: i32 = 7;
const READONLY: i32 = 8;
const INTERRUPT: i32 = 9;
const IOERR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const PROTOCOL: i32 = 15;
const SCHEMA: i32 = 17;
const MISMATCH: i32 = 20;
const NOTADB: i32 = 26;
const BUSY_SNAPSHOT: i32 = BUSY | 2 << 8;
const IOERR_SHMSIZE: i32 = IOERR | 19 << 8;

/// What a caller can do about it.
pub(super) fn kind(error: &impl Failure) -> StoreErrorKind {
    let Some(code) = primary(error) else { return error.own_kind() };
    match code {
        // An I/O error, a lack of memory or an interruption may pass, and leaves the outcome unknown.
        BUSY | LOCKED | IOERR | NOMEM | INTERRUPT | ABORT | PROTOCOL | SCHEMA => StoreErrorKind::Unavailable,
        FULL => StoreErrorKind::Full,
        CORRUPT | MISMATCH => StoreErrorKind::Corrupt,
        NOTADB => StoreErrorKind::Foreign,
        READONLY | PERM => StoreErrorKind::ReadOnly,
        _ => StoreErrorKind::Misconfigured,
    }
}

/// Whether another connection is in the way.
pub(in crate::store) fn is_busy(error: &impl Failure) -> bool {
    matches!(primary(error), Some(BUSY | LOCKED))
}

/// Whether another connection wrote after this transaction had read: it cannot write any more, however long it would wait.
pub(in crate::store) fn is_too_late(error: &impl Failure) -> bool {
    error.code() == Some(BUSY_SNAPSHOT)
}

/// Whether there was no room for the index of the log. It is asked for at a commit too, after the log was written, so that what became
/// of the transaction is as unknown as with any I/O error.
pub(in crate::store) fn is_short_of_room(error: &impl Failure) -> bool {
    error.code() == Some(IOERR_SHMSIZE)
}

/// The code without what it says beyond the first byte.
fn primary(error: &impl Failure) -> Option<i32> {
    error.code().map(|code| code & 0xff)
}

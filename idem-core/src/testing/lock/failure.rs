//! Why the lock test fails, and what to do.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::changes::Report;
use super::file::Malformed;
use crate::registry::SharedScope;

/// Why the test fails.
#[derive(Debug)]
pub(super) enum Failure {
    UnknownWish(OsString),
    UpdateInCi,
    SharedScopes(Vec<SharedScope>),
    NothingLinked,
    NoFile(PathBuf),
    NotRead(PathBuf, io::Error),
    NotWritten(PathBuf, io::Error),
    NoLockFile(PathBuf),
    Malformed(PathBuf, Malformed),
    Changed(PathBuf, Report),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWish(wish) => write!(
                f,
                "IDEM_LOCK is `{}`; set it to `update` to accept what changed, or not at all",
                wish.display()
            ),
            Self::UpdateInCi => f.write_str(
                "IDEM_LOCK is `update`, and CI is set: a job that accepts all changes checks nothing. Update the file \
                 where somebody reads its diff, or take CI out of this command's environment",
            ),
            Self::SharedScopes(shared) => {
                f.write_str("handlers that share records would skip each other's messages")?;
                shared.iter().try_for_each(|shared| write!(f, "\n    {shared}"))
            }
            Self::NothingLinked if cfg!(miri) => f.write_str(
                "Miri links nothing, so no handler can be found: leave this test to others, with `#[cfg_attr(miri, ignore)]`",
            ),
            Self::NothingLinked => f.write_str(
                "no handler is linked into this test: a crate that the test does not name is left out; write `use the_crate as _;`, \
                 with the name of the crate that has the handlers",
            ),
            Self::NoFile(path) => write!(
                f,
                "there is no {} yet; to have it written, run the test with IDEM_LOCK=update, and commit the file:\n\n    \
                 IDEM_LOCK=update cargo test",
                path.display()
            ),
            Self::NotRead(path, error) => write!(
                f,
                "{} cannot be read: {error}; if it is a lock file, take back what was changed in it, or delete it and run the test with \
                 IDEM_LOCK=update",
                path.display()
            ),
            Self::NotWritten(path, error) if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "{} cannot be written: its folder does not exist; make that first", path.display())
            }
            Self::NotWritten(path, error) => write!(
                f,
                "{} cannot be written: {error}; it is written beside the old one, so its folder has to be writable too",
                path.display()
            ),
            Self::NoLockFile(path) => write!(
                f,
                "{} has something else in it than a lock file, so it is not written over; give `assert_keys_locked` another path, or \
                 delete it",
                path.display()
            ),
            Self::Malformed(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Changed(path, report) => {
                let name = path.file_name().map_or_else(|| path.display(), |name| Path::new(name).display());
                write!(f, "the handlers are not as {name} has them: {report}\n\n")?;
                write!(f, "To accept this, run the test with IDEM_LOCK=update, read the diff of {}, ", path.display())?;
                f.write_str("and commit it with the code:\n\n    IDEM_LOCK=update cargo test")
            }
        }
    }
}

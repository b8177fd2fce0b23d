//! The lock file: what the handlers are known by, checked in, so that a change of it shows in review.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::registry::{RegisteredHandler, SharedScope, handlers, shared_scopes};

mod changes;
mod failure;
mod file;
mod meaning;

use changes::{Found, Report};
use failure::Failure;
use file::Entry;

/// Fails unless the annotated handlers of this test are those of a checked-in file: their scopes, keys, windows and exceptions.
///
/// A changed key or scope compiles, passes every other test, and works on messages again that were worked on before. In a file beside the
/// code it is a line in the diff of a review, and until somebody has accepted it, this fails and says what it does to the messages that
/// are in flight. So do two handlers that share a scope.
///
/// ```no_run
/// // tests/idem_lock.rs
/// # extern crate idem_core as idem;
/// # use std as billing;
/// use billing as _; // or its handlers are not linked into this test
///
/// #[test]
/// fn keys_and_windows_are_those_that_were_reviewed() {
///     idem::testing::assert_keys_locked("idem.lock");
/// }
/// ```
///
/// ```toml
/// [dev-dependencies]
/// idem-rs = { version = "0.1", features = ["testing"] } # for tests alone: the release build has none of it
/// ```
///
/// (The resolver of editions before 2021 turns features of dev-dependencies on for every build: there, say `resolver = "2"`.)
///
/// `IDEM_LOCK=update cargo test` writes the file, anew or for the first time. Read its diff, and commit it with the code:
///
/// ```text
/// handler "billing.charge"
///     key = "msg:<payment.id>"
///     mode = "lease_and_replay"
///     ttl = "7d"
///     keep = "45d"
///     redelivery = "14d"
/// ```
///
/// There is a line for each option that was written, and for the mode, `ttl` and `keep` always; none says where the code is, so that other
/// edits change nothing here. A relative path begins at the folder of the package whose test runs (`CARGO_MANIFEST_DIR`, which cargo and
/// its like set; without it, at the current one).
///
/// Give it a test file of its own, `tests/idem_lock.rs`: handlers of the test itself would be listed too. What is listed is what is linked,
/// so handlers of other crates are, and of a crate that the test does not name none are. A program without a library has the test in its
/// `main.rs`.
///
/// # What it does not see
///
/// What is behind the names: the type of a part or what its `KeyPart` writes, the body of a getter, the fields of a `Message`, the store that
/// is installed. Of a scope that depends on type parameters it has the expression.
///
/// # Panics
/// If the handlers are not as the file has them; if there is no file, or none that can be read; if two handlers have one scope, or one
/// names in `scope_was` what is the scope of another; if no handler is linked. Also if `IDEM_LOCK` is anything but `update` or empty, and if it is `update` where `CI` is set (and not `false`): a
/// job that accepts all changes checks nothing.
#[track_caller]
pub fn assert_keys_locked(path: impl AsRef<Path>) {
    let path = path.as_ref();
    let place =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| path.to_owned(), |root| Path::new(&root).join(path));
    let wish = Wish::of(env::var_os("IDEM_LOCK"), env::var_os("CI"));
    match wish.and_then(|wish| locked(wish, &place, handlers(), shared_scopes())) {
        Ok(Locked::Same) => {}
        Ok(Locked::Written) => eprintln!("{} was written: read its diff, and commit it", place.display()),
        Err(failure) => panic!("{failure}"),
    }
}

/// What the environment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Compare,
    Update,
}

/// What was done.
#[derive(Debug, PartialEq, Eq)]
enum Locked {
    Same,
    Written,
}

impl Wish {
    fn of(lock: Option<OsString>, ci: Option<OsString>) -> Result<Self, Failure> {
        let Some(lock) = lock.filter(|lock| !lock.is_empty()) else { return Ok(Self::Compare) };
        let in_ci = ci.is_some_and(|ci| !["", "0", "false"].iter().any(|no| ci == *no));
        match lock.to_str() {
            Some("update") if in_ci => Err(Failure::UpdateInCi),
            Some("update") => Ok(Self::Update),
            _ => Err(Failure::UnknownWish(lock)),
        }
    }
}

fn locked(
    wish: Wish,
    path: &Path,
    handlers: &[&RegisteredHandler],
    shared: Vec<SharedScope>,
) -> Result<Locked, Failure> {
    if !shared.is_empty() {
        return Err(Failure::SharedScopes(shared));
    }
    if handlers.is_empty() {
        return Err(Failure::NothingLinked);
    }
    let found: Vec<Found> = handlers.iter().map(|handler| Found::of(handler)).collect();
    let before = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        // What cannot be read is not written over: it may be no lock file at all.
        Err(error) => return Err(Failure::NotRead(path.to_owned(), error)),
    };
    if wish == Wish::Update {
        if before.as_ref().is_some_and(|before| !file::may_be_one(before)) {
            return Err(Failure::NoLockFile(path.to_owned()));
        }
        let text = file::write(found.iter().map(|found| found.entry.clone()).collect());
        if before.is_some_and(|before| before == text) {
            return Ok(Locked::Same);
        }
        write_whole(path, &text).map_err(|error| Failure::NotWritten(path.to_owned(), error))?;
        return Ok(Locked::Written);
    }
    let before = before.ok_or_else(|| Failure::NoFile(path.to_owned()))?;
    let before: Vec<Entry> = file::read(&before).map_err(|why| Failure::Malformed(path.to_owned(), why))?;
    match Report::of(before, found) {
        None => Ok(Locked::Same),
        Some(report) => Err(Failure::Changed(path.to_owned(), report)),
    }
}

/// Puts the text there in one step: who reads meanwhile sees the old file or the new one.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Through a link, the file is what is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut beside = path.clone().into_os_string();
    beside.push(format!(".{}.{}.tmp", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // Whatever is wrong has been found already.
        let _ = fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests;

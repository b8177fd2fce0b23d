//! Which file a path names.

use std::path::Path;

/// What identifies the file on its disk, with its log and the memory that its locks live in, so that one put in the place of
/// another is noticed. Each may be absent.
pub(in crate::store) type Identity = [Option<(u64, u64)>; 3];

/// The identity of the file at `path`.
#[cfg(unix)]
pub(in crate::store) fn identity(path: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt;
    ["", "-wal", "-shm"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name).ok().map(|found| (found.dev(), found.ino()))
    })
}

/// Other systems do not let an open file be replaced.
#[cfg(not(unix))]
pub(in crate::store) fn identity(_: &Path) -> Identity {
    [None; 3]
}

//! Where a server's program is.

use std::env;
use std::path::PathBuf;

include!("places.rs");

/// The path of a server's program.
///
/// # Panics
/// If it is not on this machine.
pub fn program(name: &str) -> PathBuf {
    places(name)
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("`{name}` is not on this machine; install the package that has it"))
}

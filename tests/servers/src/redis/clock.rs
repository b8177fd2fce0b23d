//! A wall clock that a test sets while a server runs.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use crate::Folder;

/// What makes a server's clock wrong: a library that is preloaded into it, and the file that says by how much.
#[derive(Debug)]
pub(super) struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    pub(super) fn new(folder: &Folder) -> Self {
        let path = |name| folder.as_ref().join(name);
        let (source, library, file) = (path("clock.c"), path("clock.so"), path("clock"));
        std::fs::write(&source, include_str!("clock.c")).expect("a folder of our own can be written to");
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).status();
        assert!(built.is_ok_and(|status| status.success()), "cc builds a library of 40 lines");
        let clock = Self { library, file };
        std::fs::write(&clock.file, 0_i64.to_ne_bytes()).expect("a folder of our own can be written to");
        clock
    }

    /// In place, as the server has the file mapped.
    pub(super) fn set(&self, ahead: i64) {
        let file = std::fs::OpenOptions::new().write(true).open(&self.file).expect("a file of our own");
        file.write_all_at(&ahead.to_ne_bytes(), 0).expect("a file of our own can be written to");
    }

    pub(super) fn give_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("IDEM_CLOCK", &self.file);
    }
}

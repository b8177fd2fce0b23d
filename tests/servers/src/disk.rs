//! A disk that forgets, when the power fails, all that was not synced.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Folder;

/// A folder for a process to write to, and what a power loss would leave of it at worst: each file as it was at its last sync.
///
/// Kept by a library that is preloaded into the process. What a real disk may have written besides, in any order, is not imitated.
#[derive(Debug)]
pub struct Disk {
    folder: Folder,
    generation: u32,
}

impl Disk {
    /// An empty one.
    ///
    /// # Panics
    /// If there is no C compiler, or no folder for temporary files.
    pub fn new() -> Self {
        let disk = Self { folder: Folder::new("disk"), generation: 0 };
        let source = disk.folder.as_ref().join("disk.c");
        std::fs::write(&source, include_str!("disk.c")).expect("a folder of our own can be written to");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-pthread", "-o"])
            .args([&disk.library(), &source])
            .status();
        assert!(built.is_ok_and(|status| status.success()), "cc builds a library of 100 lines");
        disk.mirror();
        disk
    }

    /// Where a process finds the files that it left here, and may write.
    pub fn path(&self) -> PathBuf {
        self.at(self.generation)
    }

    /// Puts the disk under a process that is about to start. If it is a liar, it keeps the first `syncs` alone, and never says so.
    pub fn give_to(&self, command: &mut Command, syncs: Option<u32>) {
        command.env("LD_PRELOAD", self.library());
        command.env("IDEM_DISK", self.path()).env("IDEM_LEFT", self.at(self.generation + 1));
        if let Some(syncs) = syncs {
            command.env("IDEM_SYNCS", syncs.to_string());
        }
    }

    /// Makes the disk look, to a process that is about to start, like one of this type: `nfs4`.
    ///
    /// # Panics
    /// If files of a folder of our own cannot be written.
    pub fn looks_like(&self, kind: &str, command: &mut Command) {
        let table = self.folder.as_ref().join("mountinfo");
        let (path, root) = (self.path(), "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw");
        let disk = format!("30 22 0:40 / {} rw shared:2 master:1 - {kind} source rw", path.display());
        std::fs::write(&table, format!("{root}\n{disk}\n")).expect("a folder of our own can be written to");
        command.env("LD_PRELOAD", self.library()).env("IDEM_MOUNTS", table);
    }

    /// Loses what was not synced. The process that wrote here must have been killed.
    ///
    /// # Panics
    /// If files of a folder of our own cannot be copied.
    pub fn lose_power(&mut self) {
        self.generation += 1;
        self.mirror();
    }

    fn library(&self) -> PathBuf {
        self.folder.as_ref().join("disk.so")
    }

    fn at(&self, generation: u32) -> PathBuf {
        // As the kernel spells it.
        let folder = self.folder.as_ref().canonicalize().expect("a folder of our own");
        folder.join(generation.to_string())
    }

    /// What is on the disk by now would be left too.
    fn mirror(&self) {
        let (path, next) = (self.path(), self.at(self.generation + 1));
        for folder in [&path, &next] {
            std::fs::create_dir_all(folder).expect("a folder of our own can be written to");
        }
        for entry in std::fs::read_dir(&path).expect("a folder of our own") {
            copy(&entry.expect("a folder of our own").path(), &next);
        }
    }
}

fn copy(file: &Path, to: &Path) {
    if let Some(name) = file.file_name() {
        std::fs::copy(file, to.join(name)).expect("a file of our own can be copied");
    }
}

impl Default for Disk {
    fn default() -> Self {
        Self::new()
    }
}

//! Finds out which servers are on this machine, so that tests without theirs show as ignored, with the reason.

use std::env;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A `cfg`, the program that it stands for, and whether that is required where servers are.
const SERVERS: [(&str, &str, bool); 4] = [
    ("redis_server", "redis-server", true),
    ("c_compiler", "cc", true),
    ("postgres_server", "postgres", true),
    ("pgbouncer", "pgbouncer", false),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed=IDEM_REQUIRE_SERVERS");
    // Where servers are required, a missing one is a failure of its tests.
    let required = env::var_os("IDEM_REQUIRE_SERVERS").is_some_and(|value| value == "1");
    for (cfg, program, can_be_required) in SERVERS {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        let found = places(program).find(|path| path.is_file());
        if let Some(path) = &found {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        if found.is_some() || (required && can_be_required) {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
    println!("cargo::rustc-check-cfg=cfg(small_disk)");
    if has_small_disks() {
        println!("cargo::rustc-cfg=small_disk");
    }
}

/// Not every system lets a test mount a disk of its own.
fn has_small_disks() -> bool {
    let folder = env::var_os("OUT_DIR").expect("cargo says where");
    let mut command = with_small_disk(Path::new(&folder), 1);
    command.arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

include!("src/places.rs");
include!("src/small_disk.rs");

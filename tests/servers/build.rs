//! Finds out which servers are on this machine, so that tests without theirs show as ignored, with the reason.

use std::env;
use std::path::PathBuf;

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
}

include!("src/places.rs");

//! Finds out which servers are on this machine, so that tests without theirs show as ignored, with the reason.

use std::env;
use std::path::PathBuf;

/// A `cfg`, and the program that it stands for.
const SERVERS: [(&str, &str); 3] =
    [("redis_server", "redis-server"), ("c_compiler", "cc"), ("postgres_server", "postgres")];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rerun-if-env-changed=IDEM_REQUIRE_SERVERS");
    // Where servers are required, a missing one is a failure of its tests.
    let required = env::var_os("IDEM_REQUIRE_SERVERS").is_some_and(|value| value == "1");
    for (cfg, program) in SERVERS {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        let found = places(program).find(|path| path.is_file());
        if let Some(path) = &found {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        if found.is_some() || required {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
}

include!("src/places.rs");

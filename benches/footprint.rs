//! How much memory does what remembers take, and how often does it allocate? See `README.md`.
//!
//! Each contender runs in a process of its own, so that no other's heap is in the way.

mod memory {
    pub(crate) mod annotated;
    pub(crate) mod contender;
    pub(crate) mod idempotent_crate;
    pub(crate) mod seen;
}

use std::alloc::System;
use std::process::Command;

use memory::annotated::Annotated;
use memory::contender::{CachedMap, Contender, DashMap, HandWritten, Idem, Moka};
use memory::idempotent_crate::Idempotent;
use memory::seen::{HandWrittenSet, IdemSeen};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Records remembered.
const KEYS: usize = 1_000_000;

/// Calls over which allocations are counted, after the first [`KEYS`] of them.
const CALLS: usize = 100_000;

const ONLY: &str = "IDEM_BENCH_ONLY";

fn main() {
    if let Ok(name) = std::env::var(ONLY) {
        row::<HandWritten>(&name);
        row::<Idem>(&name);
        row::<Annotated>(&name);
        row::<DashMap>(&name);
        row::<CachedMap>(&name);
        row::<Moka>(&name);
        row::<Idempotent>(&name);
        row::<HandWrittenSet>(&name);
        row::<IdemSeen>(&name);
        return;
    }
    println!("{KEYS} keys of 40 bytes, 64-byte results");
    println!(
        "{:26}{:>18}{:>18}{:>20}{:>20}",
        "", "heap B a record", "RSS B a record", "allocs a delivery", "allocs a replay"
    );
    let this = std::env::current_exe().expect("a program has a path");
    for name in [
        HandWritten::NAME,
        Idem::NAME,
        Annotated::NAME,
        DashMap::NAME,
        CachedMap::NAME,
        Moka::NAME,
        Idempotent::NAME,
        HandWrittenSet::NAME,
        IdemSeen::NAME,
    ] {
        let child = Command::new(&this).env(ONLY, name).status();
        assert!(child.is_ok_and(|status| status.success()), "{name} failed");
    }
}

/// Measures `C` if it is the one of this process.
#[allow(clippy::cast_precision_loss, reason = "a few hundred million bytes")]
fn row<C: Contender>(name: &str) {
    if name != C::NAME {
        return;
    }
    let contender = C::empty(KEYS + CALLS);
    let resident = resident_bytes();
    let heap = Region::new(ALLOCATOR);
    for key in 0..KEYS {
        contender.first(key);
    }
    let grown = heap.change();
    let bytes = (grown.bytes_allocated - grown.bytes_deallocated) as f64 / KEYS as f64;
    let resident = resident_bytes().saturating_sub(resident) as f64 / KEYS as f64;

    let calls = Region::new(ALLOCATOR);
    for key in KEYS..KEYS + CALLS {
        contender.first(key);
    }
    let first = allocations(&calls);
    let calls = Region::new(ALLOCATOR);
    for key in 0..CALLS {
        contender.replay(key);
    }
    let replay = allocations(&calls);
    println!("{name:26}{bytes:>18.0}{resident:>18.0}{first:>20.3}{replay:>20.3}");
}

#[allow(clippy::cast_precision_loss, reason = "a few hundred thousand calls")]
fn allocations(region: &Region<'_, System>) -> f64 {
    let change = region.change();
    (change.allocations + change.reallocations) as f64 / CALLS as f64
}

/// What the kernel has given this process; zero where it does not tell.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1_024
}

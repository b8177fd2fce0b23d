//! How fast is what remembers in memory? See `README.md`.
//!
//! Every contender takes its turn in every round, so that what else the machine does meets all of them alike; what counts is
//! the ratio to the map written by hand, in the same round.

mod memory {
    pub(crate) mod annotated;
    pub(crate) mod contender;
    pub(crate) mod idempotent_crate;
    pub(crate) mod rounds;
}

use memory::annotated::Annotated;
use memory::contender::{CachedMap, DashMap, HandWritten, Idem, Moka};
use memory::idempotent_crate::Idempotent;
use memory::rounds::{Table, measure};

/// Distinct keys.
const KEYS: usize = 200_000;

fn main() {
    let rounds = rounds();
    for threads in [1, 2] {
        let mut table = Table::default();
        for _ in 0..rounds {
            table.add([
                measure::<HandWritten>(KEYS, threads),
                measure::<Idem>(KEYS, threads),
                measure::<Annotated>(KEYS, threads),
                measure::<DashMap>(KEYS, threads),
                measure::<CachedMap>(KEYS, threads),
                measure::<Moka>(KEYS, threads),
                measure::<Idempotent>(KEYS, threads),
            ]);
        }
        println!("{KEYS} keys of 40 bytes, 64-byte results, {threads} thread(s), {rounds} rounds");
        println!("{table}");
    }
    println!("ns an operation: median of the rounds (median of the ratios to the first line)");
}

/// `IDEM_BENCH_ROUNDS`, or eleven.
fn rounds() -> usize {
    std::env::var("IDEM_BENCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(11)
}

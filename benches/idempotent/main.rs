//! The same as `../memory.rs`, beside version 2.0 of the crate `idempotent`. See `../README.md`.

mod memory;
mod second;

use memory::annotated::Annotated;
use memory::contender::{HandWritten, Idem};
use memory::rounds::{Table, measure};
use second::{Responses, Values};

/// Distinct keys.
const KEYS: usize = 200_000;

fn main() {
    let rounds = std::env::var("IDEM_BENCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(11);
    for threads in [1, 2] {
        let mut table = Table::default();
        for _ in 0..rounds {
            table.add([
                measure::<HandWritten>(KEYS, threads),
                measure::<Idem>(KEYS, threads),
                measure::<Annotated>(KEYS, threads),
                measure::<Responses>(KEYS, threads),
                measure::<Values>(KEYS, threads),
            ]);
        }
        println!("{KEYS} keys of 40 bytes, 64-byte results, {threads} thread(s), {rounds} rounds");
        println!("{table}");
    }
    println!("ns an operation: median of the rounds (median of the ratios to the first line)");
}

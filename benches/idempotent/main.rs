//! The same as `../memory.rs`, beside version 2.0 of the crate `idempotent`. See `../README.md`.

mod memory;
mod second;

use memory::annotated::Annotated;
use memory::contender::{HandWritten, Idem};
use memory::rounds::{Table, measure};
use second::{Responses, Values};

fn main() {
    Table::print(|threads| {
        vec![
            measure::<HandWritten>(threads),
            measure::<Idem>(threads),
            measure::<Annotated>(threads),
            measure::<Responses>(threads),
            measure::<Values>(threads),
        ]
    });
}

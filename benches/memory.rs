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

fn main() {
    Table::print(|threads| {
        vec![
            measure::<HandWritten>(threads),
            measure::<Idem>(threads),
            measure::<Annotated>(threads),
            measure::<DashMap>(threads),
            measure::<CachedMap>(threads),
            measure::<Moka>(threads),
            measure::<Idempotent>(threads),
        ]
    });
}

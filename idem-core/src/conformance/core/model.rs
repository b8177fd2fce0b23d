//! Random sequences, on whatever clock the store has.

use super::super::checks::checks;
use super::super::fixture::Fixture;
use super::super::model::{Time, any_sequence};
use super::super::subject::{About, Subject};

/// Sequences in one run of the check. Many fixtures run this group.
const RUNS: u32 = 20;

checks! {
    $ __conformance_core_model, "core", Fixture;


    /// Clause 1: each operation answers and changes what `machine::decide` does on the record found at the store's own now.
    ///
    /// As [`clock::any_sequence_is_answered_as_the_protocol_says`](crate::conformance::clock::any_sequence_is_answered_as_the_protocol_says)
    /// does, but on the clock that the store has: leases, results and records last for no time or for an hour at least, and the times in
    /// answers are not compared.
    fn any_sequence_on_its_own_clock_is_answered_as_the_protocol_says(store) {
        any_sequence(&store, Time::Own, RUNS);
    }
}

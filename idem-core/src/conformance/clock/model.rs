//! Random sequences, with all times compared.

use super::super::checks::checks;
use super::super::fixture::MovesClock;
use super::super::model::{Time, any_sequence};
use super::super::subject::{About, Subject};

/// Sequences in one run of the check: some seconds on a store that waits for a disk.
const RUNS: u32 = 60;

checks! {
    $ __conformance_clock_model, "clock", MovesClock;


    /// Clause 1: each operation answers and changes what `machine::decide` does on the record found at the store's own now.
    ///
    /// Runs the protocol beside the store, through random sequences of operations, batches, sweeps and times on a few records. One that is
    /// answered otherwise is made shorter, as long as it fails, and reported step by step. The seed is new each time; a failure names it,
    /// and `IDEM_CONFORMANCE_SEED` repeats it. `IDEM_CONFORMANCE_RUNS` sets how many sequences are tried. Fences may be greater than
    /// those of `decide`, and must grow.
    fn any_sequence_is_answered_as_the_protocol_says(store, clock) {
        any_sequence(&store, Time::Moved(clock), RUNS);
    }
}

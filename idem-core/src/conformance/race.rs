//! Many threads at one record at the same instant.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;

use crate::StoreError;

/// Threads of a race.
pub(super) const RUNNERS: usize = 16;
/// Records of a race, one after the other.
pub(super) const RECORDS: usize = 32;

/// Every runner does `act` on every record, and all of them on the same one at once: they meet at a barrier before each. Answers
/// come by record and runner.
///
/// With sixteen callers on one record, a store that looks and then writes slips through now and then; over many records, behind
/// a barrier, it does not.
pub(super) fn race<R: Sync, A: Send>(
    records: &[R],
    runners: usize,
    act: impl Fn(&R, usize) -> Result<A, StoreError> + Sync,
) -> Vec<Vec<Result<A, StoreError>>> {
    let barrier = Barrier::new(runners);
    let run = |runner: usize| -> Vec<_> {
        let at_once = |record: &R| {
            barrier.wait();
            // A runner that panicked would leave the others waiting for it.
            catch_unwind(AssertUnwindSafe(|| act(record, runner)))
        };
        records.iter().map(at_once).collect()
    };
    let by_runner: Vec<Vec<_>> = std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..runners).map(|runner| scope.spawn(move || run(runner))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let mut by_record: Vec<Vec<_>> = records.iter().map(|_| Vec::with_capacity(runners)).collect();
    for answers in by_runner {
        for (record, answer) in answers.into_iter().enumerate() {
            by_record[record].push(answer.unwrap_or_else(|panic| resume_unwind(panic)));
        }
    }
    by_record
}

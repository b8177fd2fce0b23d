//! One round of one contender, and the table of all rounds.

use std::fmt;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::contender::{Contender, RESULT};

/// What is measured: the columns of the table.
const COLUMNS: [&str; 3] = ["first delivery", "replay, all keys", "replay, one key"];

/// One round of one contender, in nanoseconds an operation.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    name: &'static str,
    nanos: [f64; COLUMNS.len()],
}

/// Runs one round.
pub(crate) fn measure<C: Contender>(keys: usize, threads: usize) -> Figures {
    let contender = C::empty(keys);
    let nanos = [
        on_threads(keys, threads, |key| contender.first(key)),
        on_threads(keys, threads, |key| assert_eq!(contender.replay(key), RESULT.len())),
        on_threads(keys, threads, |_| assert_eq!(contender.replay(keys / 2), RESULT.len())),
    ];
    Figures { name: C::NAME, nanos }
}

/// Calls `operation` once for each key, the keys dealt out to the threads; returns nanoseconds an operation.
///
/// One thread is timed by its own processor time, so that a busy machine counts less; several by the clock on the wall, since
/// it is waiting for each other that they are compared by.
fn on_threads(keys: usize, threads: usize, operation: impl Fn(usize) + Sync) -> f64 {
    if threads == 1 {
        let start = ThreadTime::now();
        (0..keys).for_each(&operation);
        return per_operation(start.elapsed(), keys);
    }
    let barrier = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (barrier, operation) = (&barrier, &operation);
                scope.spawn(move || {
                    barrier.wait();
                    (thread..keys).step_by(threads).for_each(operation);
                })
            })
            .collect();
        barrier.wait();
        let start = Instant::now();
        for worker in workers {
            assert!(worker.join().is_ok(), "a worker failed");
        }
        per_operation(start.elapsed(), keys)
    })
}

#[allow(clippy::cast_precision_loss, reason = "a few hundred thousand operations, a few seconds")]
fn per_operation(time: Duration, operations: usize) -> f64 {
    time.as_nanos() as f64 / operations as f64
}

/// All rounds: one row for each contender, the first of which is what the others are compared with.
#[derive(Default)]
pub(crate) struct Table(Vec<Vec<Figures>>);

impl Table {
    /// Adds one round of all contenders.
    pub(crate) fn add(&mut self, round: impl IntoIterator<Item = Figures>) {
        self.0.push(round.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:26}", "")?;
        for column in COLUMNS {
            write!(f, "{column:>20}")?;
        }
        writeln!(f)?;
        for row in 0..self.0.first().map_or(0, Vec::len) {
            write!(f, "{:26}", self.0[0][row].name)?;
            for column in 0..COLUMNS.len() {
                let nanos = median(self.0.iter().map(|round| round[row].nanos[column]));
                let ratio =
                    median(self.0.iter().map(|round| round[row].nanos[column] / round[0].nanos[column]));
                write!(f, "{:>20}", format!("{nanos:.0} ({ratio:.2})"))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

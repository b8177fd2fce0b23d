//! One round of one contender, and the table of all rounds.

use std::fmt;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::contender::{Contender, RESULT};

/// Distinct keys.
const KEYS: usize = 200_000;

/// What is measured: the columns of the table.
const COLUMNS: [&str; 3] = ["first delivery", "replay, all keys", "replay, one key"];

/// One round of one contender, in nanoseconds an operation.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    name: &'static str,
    nanos: [f64; COLUMNS.len()],
}

/// Runs one round.
pub(crate) fn measure<C: Contender>(threads: usize) -> Figures {
    let keys = KEYS;
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
    /// Prints what a run comes to, on one thread and on two; `round` is one round of all contenders on so many.
    pub(crate) fn print(round: impl Fn(usize) -> Vec<Figures>) {
        let rounds =
            std::env::var("IDEM_BENCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(11);
        for threads in [1, 2] {
            let mut table = Self::default();
            (0..rounds).for_each(|_| table.add(round(threads)));
            println!(
                "{KEYS} keys of 40 bytes, {}-byte results, {threads} thread(s), {rounds} rounds",
                RESULT.len()
            );
            println!("{table}");
        }
        println!("ns an operation: median of the rounds (median of the ratios to the first line)");
    }

    /// Adds one round of all contenders.
    fn add(&mut self, round: Vec<Figures>) {
        self.0.push(round);
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

//! Sides that take turns, and what they come to against the first.

use std::time::Duration;

use idem_benches::median;

/// The transaction as it is, with its record in it, and with a result in that.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Plain,
    Unit,
    Kept,
}

/// The times of several sides in each round.
pub(crate) struct Ratios {
    names: &'static [&'static str],
    rounds: Vec<Vec<Duration>>,
}

impl Ratios {
    pub(crate) fn of(names: &'static [&'static str]) -> Self {
        Self { names, rounds: Vec::new() }
    }

    /// One round: how long each side took for a message.
    pub(crate) fn add(&mut self, times: Vec<Duration>) {
        assert_eq!(times.len(), self.names.len());
        self.rounds.push(times);
    }

    /// Medians over the rounds: of the time, and of the ratio to the first side in the same round.
    pub(crate) fn print(&self, what: &str) {
        println!("{what}, {} rounds", self.rounds.len());
        for (side, name) in self.names.iter().enumerate() {
            let time = median(self.rounds.iter().map(|round| round[side].as_secs_f64() * 1e6));
            let ratio =
                median(self.rounds.iter().map(|round| round[side].as_secs_f64() / round[0].as_secs_f64()));
            println!("  {name:<32} {time:>9.1} µs  {ratio:>5.2}");
        }
    }
}

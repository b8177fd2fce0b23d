//! Times of two sides that take turns.

use std::time::{Duration, Instant};

/// How long `work` takes for each of `count` messages.
///
/// # Panics
/// If there is none, or more than a `u32` counts.
pub fn per_message(count: usize, work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed() / u32::try_from(count).expect("a small count")
}

/// The middle one of the values; of an even number the greater of the two.
///
/// # Panics
/// If there is none.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times of both sides, taken in turns.
#[derive(Debug, Default)]
pub struct Pairs(Vec<(Duration, Duration)>);

impl Pairs {
    /// Adds the times of one round.
    pub fn add(&mut self, by_hand: Duration, idem: Duration) {
        self.0.push((by_hand, idem));
    }

    /// How many rounds there were.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there was no round.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prints the medians of the times, and of the ratios in one round.
    pub fn print(&self, what: &str) {
        self.print_as(what, "idem");
    }

    /// Prints the same where the other side is not idem.
    pub fn print_as(&self, what: &str, side: &str) {
        if self.is_empty() {
            return;
        }
        let of = |side: fn(&(Duration, Duration)) -> f64| median(self.0.iter().map(side));
        let by_hand = of(|pair| pair.0.as_secs_f64() * 1e6);
        let idem = of(|pair| pair.1.as_secs_f64() * 1e6);
        let ratio = of(|pair| pair.1.as_secs_f64() / pair.0.as_secs_f64());
        println!(
            "{what:<42} by hand {by_hand:>8.2} us   {side} {idem:>8.2} us   {ratio:.3}x   ({:.1} times faster)",
            1.0 / ratio
        );
    }
}

//! Keys, and times of two sides that take turns.

use std::time::{Duration, Instant};

use idem::{Namespace, RecordId};

/// A ready key, as each side takes it.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) record: RecordId,
}

/// Keys of 40 bytes in no order, as ids from a queue are.
pub(crate) fn keys(round: usize, count: usize) -> Vec<Key> {
    let space = Namespace::new("", "", "bench");
    (0..count)
        .map(|n| {
            let mut x = (round * 10_000_019 + n) as u64;
            let mut word = || {
                x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z ^ (z >> 27)
            };
            let text = format!("msg:{:016x}-{:016x}-00", word(), word());
            Key { record: space.record(&text), text }
        })
        .collect()
}

pub(crate) fn per_message(count: usize, work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed() / u32::try_from(count).expect("a small count")
}

/// Times of both sides, taken in turns.
#[derive(Default)]
pub(crate) struct Pairs(Vec<(Duration, Duration)>);

impl Pairs {
    pub(crate) fn add(&mut self, by_hand: Duration, idem: Duration) {
        self.0.push((by_hand, idem));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn print(&self, what: &str) {
        if self.0.is_empty() {
            return;
        }
        let median = |of: fn(&(Duration, Duration)) -> f64| {
            let mut all: Vec<f64> = self.0.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let by_hand = median(|pair| pair.0.as_secs_f64() * 1e6);
        let idem = median(|pair| pair.1.as_secs_f64() * 1e6);
        let ratio = median(|pair| pair.1.as_secs_f64() / pair.0.as_secs_f64());
        println!(
            "{what:<38} by hand {by_hand:>8.1} us   idem {idem:>8.1} us   {ratio:.3}x   ({:.1} times faster)",
            1.0 / ratio
        );
    }
}

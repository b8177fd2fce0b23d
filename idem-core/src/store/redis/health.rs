//! What was last known of a server, for those who look after it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::check::Report;

#[derive(Default)]
pub(super) struct Health(Mutex<Known>);

#[derive(Default)]
struct Known {
    last: Report,
    runs: HashMap<String, String>,
    restarts: u64,
}

impl Health {
    pub(super) fn note(&self, report: &Report) {
        let mut known = self.known();
        for (node, run) in &report.runs {
            let before = known.runs.insert(node.clone(), run.clone());
            known.restarts += u64::from(before.is_some_and(|before| before != *run));
        }
        known.last = report.clone();
    }

    pub(super) fn last(&self) -> Report {
        self.known().last.clone()
    }

    pub(super) fn restarts(&self) -> u64 {
        self.known().restarts
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

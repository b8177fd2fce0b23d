//! Several stores on one file, asked at random beside the protocol itself.
//!
//! A key is found by what three things know of it: the file's index, which is behind, each store's memory of the rows behind that, and the file's
//! memory of the numbers that rows have had. What each of them misses is hidden by the others most of the time. So everything that moves one of
//! them is done in any order, by any of the stores and by strangers, and every answer has to be that of `machine::decide` over a map.

mod file;
mod model;
mod steps;

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use idem_core::machine::Answer;
use idem_core::{ManualClock, Reply, SqliteStore, Store, StoreError, StoreErrorKind, Timestamp};
use proptest::prelude::*;

use self::file::Outside;
use self::model::{Asked, Model, id};
use self::steps::{Action, Ask, Many, Setting, Step, runs};
use crate::asks::{Dir, awaited};

/// Runs in a usual test; `PROPTEST_CASES` asks for another number.
const CASES: u32 = 64;

fn config() -> ProptestConfig {
    let usual =
        ProptestConfig { failure_persistence: None, max_shrink_time: 60_000, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        usual
    } else {
        ProptestConfig { cases: CASES, ..usual }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn stores_on_one_file_answer_as_one_map_would(run in runs()) {
        let mut beside = Beside::new(run.setting);
        for (at, step) in run.steps.iter().enumerate() {
            let done = beside.step(step);
            prop_assert!(done.is_ok(), "step {}, {step:?}: {}", at + 1, done.unwrap_err());
        }
        let ended = beside.end();
        prop_assert!(ended.is_ok(), "at the end: {}", ended.unwrap_err());
    }
}

/// What is wrong.
type Wrong = String;

struct Beside {
    setting: Setting,
    clock: ManualClock,
    model: Model,
    /// What it was when the file was copied.
    copied: Option<Model>,
    stores: Vec<SqliteStore>,
    outside: Outside,
    dir: Dir,
}

impl Beside {
    fn new(setting: Setting) -> Self {
        let dir = Dir::new();
        let clock = crate::asks::clock();
        // One that may have no more than there is needs a file with a schema.
        drop(SqliteStore::open(dir.file()).expect("a file that can be opened"));
        let stores = (0..setting.stores).map(|at| open(&dir, &clock, setting, at)).collect();
        let outside = Outside::open(&dir.file());
        Self { setting, clock, model: Model::default(), copied: None, stores, outside, dir }
    }

    fn step(&mut self, step: &Step) -> Result<(), Wrong> {
        let at = step.store % self.stores.len();
        self.act(at, step).map_err(|wrong| format!("of store {at}, {wrong}"))?;
        self.outside.agrees_with(&mut self.model, self.clock.now())
    }

    fn act(&mut self, at: usize, step: &Step) -> Result<(), Wrong> {
        let (store, now) = (&self.stores[at], self.clock.now());
        match &step.action {
            Action::Ask(key, ask) => {
                let key = key % self.setting.keys;
                let asked = self.model.asked(key, ask);
                let found = hear(send(store, &asked), step.polled);
                self.compare(at, &[asked], found.map(|answer| vec![answer]))
            }
            Action::Claims(many) => {
                let asked = self.asked(many);
                let claims: Vec<_> = asked.iter().filter_map(Asked::claim).collect();
                let found = hear(store.claim_many(&claims), step.polled);
                self.compare(at, &asked, found.map(|all| all.into_iter().map(Answer::Claim).collect()))
            }
            Action::Refused(many, refused) => {
                let asked = self.asked(many);
                let claims: Vec<_> = asked.iter().filter_map(Asked::claim).collect();
                let claim = || hear(store.claim_many(&claims), step.polled);
                match self.outside.refusing(*refused, claim) {
                    Err(error) if error.to_string().contains("refused") => Ok(()),
                    found => {
                        let found = found.map(|all| all.into_iter().map(Answer::Claim).collect());
                        self.compare(at, &asked, found)
                    }
                }
            }
            Action::Ends(many) => {
                let asked = self.asked(many);
                let ends: Vec<_> = asked.iter().filter_map(Asked::end).collect();
                let found = hear(store.end_many(&ends), step.polled);
                self.compare(at, &asked, found.map(|all| all.into_iter().map(Answer::from).collect()))
            }
            Action::Sweep(limit) => {
                let dead = self.model.removable(now).count().min(*limit) as u64;
                match hear(store.sweep(*limit), step.polled) {
                    // If there was no room before, it has been made first.
                    Ok(swept) if swept == dead || swept < dead && self.is_bounded(at) => Ok(()),
                    Err(error) => self.excuse(at, &error),
                    Ok(swept) => Err(format!("{dead} expected to go, and {swept} went")),
                }
            }
            Action::Pass(by) => {
                self.clock.advance(*by);
                Ok(())
            }
            Action::SetBack(by) => {
                let earlier = Timestamp::from_micros(now.as_micros() - whole_micros(*by));
                self.clock = ManualClock::at(earlier);
                (0..self.stores.len()).for_each(|at| self.reopen(at));
                Ok(())
            }
            Action::Index(steps) => match store.index_steps(*steps) {
                Ok(()) => Ok(()),
                Err(error) => self.excuse(at, &error),
            },
            Action::ExpectNew => (0..32).try_for_each(|_| {
                // Of a key behind all others.
                let asked = self.model.asked(self.setting.keys, &Ask::FLEETING);
                let found = self.stores[at].claim(asked.claim().as_ref().expect("a claim")).wait();
                self.compare(at, &[asked], found.map(|verdict| vec![Answer::Claim(verdict)]))
            }),
            Action::Reopen => {
                self.reopen(at);
                Ok(())
            }
            Action::Delete(which) => {
                self.outside.delete(which, self.setting.keys, now);
                self.outside.teach(&mut self.model);
                Ok(())
            }
            Action::Copy => {
                self.outside.copy(&self.copy());
                self.copied = Some(self.model.clone());
                Ok(())
            }
            Action::Restore => {
                if let Some(model) = &self.copied {
                    self.model = model.clone();
                    self.outside.restore(&self.copy());
                }
                Ok(())
            }
        }
    }

    fn asked(&self, many: &Many) -> Vec<Asked> {
        many.each().into_iter().map(|(key, ask)| self.model.asked(key % self.setting.keys, ask)).collect()
    }

    /// Whether a store, which may have had no room, has answered as the protocol says.
    fn compare(
        &mut self,
        at: usize,
        asked: &[Asked],
        found: Result<Vec<Answer>, StoreError>,
    ) -> Result<(), Wrong> {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                self.excuse(at, &error)?;
                return self.learn(asked);
            }
        };
        if found.len() != asked.len() {
            return Err(format!("{} answers to {} questions", found.len(), asked.len()));
        }
        for (asked, found) in asked.iter().zip(found) {
            let expected = self.model.ask(asked, self.clock.now());
            if found != expected {
                return Err(format!("key {}: {expected:?} expected, and {found:?} found", asked.key));
            }
        }
        Ok(())
    }

    /// Finds out how much was done of what was answered with an error: so many from the first on, and not the last.
    fn learn(&mut self, asked: &[Asked]) -> Result<(), Wrong> {
        let now = self.clock.now();
        let mut model = self.model.clone();
        for next in asked {
            if self.outside.agrees_with(&mut model.clone(), now).is_ok() {
                self.model = model;
                return Ok(());
            }
            model.ask(next, now);
        }
        Err("after an error, more was done than could be".to_owned())
    }

    /// An error of a store that may not grow.
    fn excuse(&self, at: usize, error: &StoreError) -> Result<(), Wrong> {
        match error.kind() {
            StoreErrorKind::Full if self.is_bounded(at) => Ok(()),
            _ => Err(error.to_string()),
        }
    }

    fn copy(&self) -> PathBuf {
        self.dir.path().join("copy.db")
    }

    fn is_bounded(&self, at: usize) -> bool {
        self.setting.is_bounded && at == 0
    }

    fn reopen(&mut self, at: usize) {
        // Gone before the other comes, as a process is.
        drop(self.stores.remove(at));
        self.stores.insert(at, open(&self.dir, &self.clock, self.setting, at));
    }

    /// Every store, and one that comes only now, sees every record.
    fn end(mut self) -> Result<(), Wrong> {
        self.stores.push(open(&self.dir, &self.clock, self.setting, self.setting.stores));
        for (at, store) in self.stores.iter().enumerate() {
            for key in 0..self.setting.keys {
                let expected = self.model.look(key, self.clock.now());
                let found = store.inspect(&id(key)).wait().map(Answer::Inspect);
                if !matches!(&found, Ok(found) if *found == expected) {
                    return Err(format!(
                        "key {key} in store {at}: {expected:?} expected, and {found:?} found"
                    ));
                }
            }
        }
        self.outside.agrees_with(&mut self.model, self.clock.now())
    }
}

fn open(dir: &Dir, clock: &ManualClock, setting: Setting, at: usize) -> SqliteStore {
    let store =
        SqliteStore::builder(dir.file()).clock(clock.clone()).tail(setting.tail.unwrap_or(usize::MAX));
    // It may have what there is, and not a page more.
    let store = if setting.is_bounded && at == 0 { store.max_bytes(1) } else { store };
    store.open().expect("a file that can be opened")
}

/// Waits as a plain thread does, which does the work itself, or as a task does, for which the writer does it.
fn hear<T: Debug>(reply: Reply<T>, polled: bool) -> Result<T, StoreError> {
    if polled { awaited(reply) } else { reply.wait() }
}

fn send(store: &SqliteStore, asked: &Asked) -> Reply<Answer> {
    use idem_core::machine::Operation;
    match &asked.operation {
        Operation::Claim(claim) => store.claim(claim).map(Answer::Claim),
        Operation::Renew(renewal) => store.renew(renewal).map(Answer::Renew),
        Operation::Complete(ending) => store.complete(ending).map(Answer::Record),
        Operation::Fail(ending) => store.fail(ending).map(Answer::Record),
        Operation::Release(token) => store.release(&id(asked.key), token).map(Answer::Release),
        Operation::Forget { force } => store.forget(&id(asked.key), *force).map(Answer::Forget),
        Operation::Inspect => store.inspect(&id(asked.key)).map(Answer::Inspect),
    }
}

fn whole_micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).expect("a span of this test")
}

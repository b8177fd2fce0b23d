//! Who writes: one thread that puts whatever waits into one transaction, and so one sync. A thread that may block, and finds
//! nobody to share with, does its own work and is spared two hops.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Waker;
use std::thread::{self, JoinHandle};

use super::engine::{Answers, Engine};
use super::novelty::Novelty;
use super::promise::{Promised, promise};
use super::queue::{Job, Needs, Next, Queue};
use super::work::{Said, Wait, Work};
use crate::machine::{Answer, Claim, Verdict};
use crate::store::sqlite_record::Place;
use crate::{StoreError, StoreErrorKind};

/// The writing side of a store.
pub(super) struct Writer {
    pub(super) place: Place,
    pub(super) queue: Queue,
    pub(super) novelty: Novelty,
    engine: Mutex<Engine>,
}

impl Writer {
    /// Starts the thread. It ends once the queue is closed and empty.
    pub(super) fn start(engine: Engine, place: Place) -> Result<(Arc<Self>, JoinHandle<()>), StoreError> {
        let writer = Arc::new(Self {
            place,
            queue: Queue::default(),
            novelty: Novelty::default(),
            engine: Mutex::new(engine),
        });
        let its = writer.clone();
        let thread =
            thread::Builder::new().name("idem-sqlite".into()).spawn(move || its.run()).map_err(|cause| {
                let what = "the system refused a thread for its writer";
                writer.place.error(StoreErrorKind::Unavailable, what).because(cause)
            })?;
        Ok((writer, thread))
    }

    /// Transactions committed so far.
    pub(super) fn commits(&self) -> u64 {
        self.lock().commits()
    }

    /// Hands `work` to the thread.
    pub(super) fn send(&self, work: Work) -> Promised<Result<Said, StoreError>> {
        let (promise, promised) = promise();
        if let Some(Job { work, promise }) = self.queue.push(Job { work, promise }) {
            // The thread has ended, so there is nobody to wait for.
            promise.keep(self.finish(&mut self.lock(), work));
        }
        promised
    }

    /// Does `work` on this thread, unless others write or wait to: then it is given back.
    pub(super) fn try_here(&self, work: Work) -> ControlFlow<Result<Said, StoreError>, Work> {
        match self.alone() {
            Some(mut engine) => ControlFlow::Break(self.finish(&mut engine, work)),
            None => ControlFlow::Continue(work),
        }
    }

    /// The verdict on `claim`, if nobody else writes or waits to. Without one in it, the claim has been looked at and needs the
    /// queue: see [`Engine::claim_in_place`].
    pub(super) fn claim_in_place(&self, claim: &Claim) -> ControlFlow<Result<Option<Verdict>, StoreError>> {
        let Some(mut engine) = self.alone() else { return ControlFlow::Continue(()) };
        let new = self.novelty.is_likely();
        let verdict = self.guard(&mut engine, |engine| engine.claim_in_place(claim, new));
        if let Ok(Some(verdict)) = &verdict {
            self.novelty.note(matches!(verdict, Verdict::Claimed(_)));
        }
        self.leave(&mut engine);
        ControlFlow::Break(verdict)
    }

    /// The engine, unless others write or wait to.
    fn alone(&self) -> Option<MutexGuard<'_, Engine>> {
        if !self.queue.is_quiet() {
            return None;
        }
        match self.engine.try_lock() {
            Ok(engine) => Some(engine),
            Err(TryLockError::Poisoned(engine)) => Some(engine.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Whether a claim had better go to the queue without a look before. Only while the writer is at work: then a duplicate that
    /// came against all expectation waits no longer than those around it.
    pub(super) fn expects_new(&self) -> bool {
        self.novelty.is_likely() && self.queue.is_busy()
    }

    fn finish(&self, engine: &mut Engine, mut work: Work) -> Result<Said, StoreError> {
        if let Some(said) = self.guard(engine, |engine| engine.end_alone(&work))? {
            self.leave(engine);
            return Ok(said);
        }
        let mut answers = Vec::with_capacity(1);
        loop {
            self.settle(engine, work.wait(), std::iter::once(&work), &mut answers)?;
            self.leave(engine);
            match answers.pop() {
                Some(Ok(Said::More(rest))) => work = rest,
                Some(answer) => return answer,
                None => {
                    return Err(self.place.error(StoreErrorKind::Unavailable, "its writer gave no answer"));
                }
            }
        }
    }

    /// Sees to what the engine needs after work on this thread.
    fn leave(&self, engine: &mut Engine) {
        if !self.queue.due(&engine.needs()) {
            engine.let_go();
        }
    }

    /// Puts keys into the index, in so many steps at most.
    pub(super) fn index_steps(&self, steps: usize) -> Result<(), StoreError> {
        let mut engine = self.lock();
        let done = self.guard(&mut engine, |engine| engine.index_steps(steps));
        self.leave(&mut engine);
        done
    }

    fn run(&self) {
        // Whatever ends this thread, nobody is left waiting.
        let _abandon = Abandon(self);
        let mut jobs = Vec::with_capacity(Queue::BATCH);
        let mut answers = Vec::with_capacity(Queue::BATCH);
        let mut wakers = Vec::with_capacity(Queue::BATCH);
        loop {
            let wait = match self.queue.next(&mut jobs) {
                Next::Batch(wait) => wait,
                Next::Tidy => {
                    self.lock().tidy();
                    continue;
                }
                Next::Index => {
                    let mut engine = self.lock();
                    let done = self.guard(&mut engine, Engine::index_turn);
                    let needs = engine.needs();
                    // If it failed, the next batch brings it up again.
                    self.queue.due(&Needs { index: needs.index && done.is_ok(), ..needs });
                    continue;
                }
                Next::LetGo => {
                    self.lock().let_go();
                    continue;
                }
                Next::End => return,
            };
            let mut engine = self.lock();
            let outcome = self.settle(&mut engine, wait, jobs.iter().map(|job| &job.work), &mut answers);
            let needs = engine.needs();
            drop(engine);
            self.learn(&answers);
            match outcome {
                Ok(()) => {
                    let told = jobs.drain(..).zip(answers.drain(..));
                    wakers.extend(told.filter_map(|(job, answer)| self.tell(job, answer)));
                }
                Err(error) => {
                    wakers.extend(jobs.drain(..).filter_map(|job| self.tell(job, Err(error.clone()))));
                }
            }
            for waker in wakers.drain(..) {
                // A waker is foreign code, and its panic must not keep the others asleep.
                let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
            }
            self.queue.due(&needs);
        }
    }

    /// Does one batch; after an error or a panic the connection is ready for the next.
    fn settle<'w>(
        &self,
        engine: &mut Engine,
        wait: Wait,
        work: impl Iterator<Item = &'w Work>,
        answers: &mut Answers,
    ) -> Result<(), StoreError> {
        let outcome = self.guard(engine, |engine| engine.transact(wait, work, answers));
        if outcome.is_err() {
            answers.clear();
        }
        outcome
    }

    fn guard<T>(
        &self,
        engine: &mut Engine,
        work: impl FnOnce(&mut Engine) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(engine)));
        let error = match outcome {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(error)) => error,
            Err(_) => self
                .place
                .error(StoreErrorKind::Unavailable, "its writer panicked; the transaction was rolled back"),
        };
        engine.roll_back();
        Err(error)
    }

    /// Notes whether the claims of a batch found what was expected of them.
    fn learn(&self, answers: &Answers) {
        let known = |answer: &Result<Said, StoreError>| match answer {
            Ok(Said::One(Answer::Claim(verdict))) => !matches!(verdict, Verdict::Claimed(_)),
            Ok(Said::Claims(verdicts)) => !matches!(verdicts[..], [Verdict::Claimed(_), ..]),
            Ok(_) => false,
            Err(_) => true,
        };
        if answers.is_empty() || answers.iter().any(known) {
            self.novelty.note(false);
        }
    }

    /// Gives the answer, and returns whom to wake. All are woken at the end: who wakes up runs at once, finds nobody else ready and
    /// goes to sleep again, once for each.
    fn tell(&self, job: Job, answer: Result<Said, StoreError>) -> Option<Waker> {
        match answer {
            Ok(Said::More(work)) => {
                let Job { work, promise } = self.queue.push(Job { work, ..job })?;
                promise.give(self.finish(&mut self.lock(), work))
            }
            answer => job.promise.give(answer),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Engine> {
        // Each transaction that panicked was rolled back, so the engine is as good as before.
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Abandon<'w>(&'w Writer);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.queue.abandon().for_each(drop);
        // Nobody will come to do it in time.
        self.0.lock().let_go();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::sqlite::open;
    use crate::store::sqlite::tail::Keys;
    use crate::store::{Store, block_on};
    use crate::{Clock, SqliteStore};

    /// A file of its own for each test.
    fn file(name: &str) -> std::path::PathBuf {
        let dir = std::env::temp_dir().join(format!("idem-writer-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        dir.join("idem.db")
    }

    #[test]
    fn a_panic_is_an_error_for_its_batch_and_the_writer_goes_on() {
        let file = file("panic");
        let place = open::locate(&file).unwrap();
        let connection = open::writer(&place, Duration::from_secs(1), None, false).unwrap();
        let keys = Arc::new(Keys::load(&connection, &place).unwrap());
        let engine = Engine::new(connection, place.clone(), Clock::wall(), Duration::from_secs(1), keys, 10);
        let (writer, thread) = Writer::start(engine, place).unwrap();
        let sweep = || Work::Sweep { after: 0, left: 1, swept: 0 };

        let error = block_on(writer.send(Work::Panic)).unwrap().err().unwrap();
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        assert!(error.to_string().contains("panicked"), "{error}");
        assert!(matches!(block_on(writer.send(sweep())), Some(Ok(Said::Swept(0)))));

        // And on a caller's own thread.
        let mut engine = writer.lock();
        assert!(writer.finish(&mut engine, Work::Panic).is_err());
        assert!(matches!(writer.finish(&mut engine, sweep()), Ok(Said::Swept(0))));
        drop(engine);

        writer.queue.close();
        thread.join().unwrap();
        assert!(matches!(block_on(writer.send(sweep())), Some(Ok(Said::Swept(0)))), "after the end too");
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }

    #[test]
    fn no_moment_is_kept_once_nobody_is_left_to_let_go_of_it() {
        let file = file("moment");
        let place = open::locate(&file).unwrap();
        let connection = open::writer(&place, Duration::from_secs(1), None, false).unwrap();
        let keys = Arc::new(Keys::load(&connection, &place).unwrap());
        let engine = Engine::new(connection, place.clone(), Clock::wall(), Duration::from_secs(1), keys, 10);
        let (writer, thread) = Writer::start(engine, place).unwrap();
        let sweep = || {
            block_on(writer.send(Work::Sweep { after: 0, left: 1, swept: 0 })).unwrap().unwrap();
        };
        let is_kept = || writer.lock().needs().let_go;
        sweep();
        sweep();
        writer.queue.close();
        thread.join().unwrap();
        assert!(!is_kept());
        for _ in 0..3 {
            sweep();
            assert!(!is_kept());
        }
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_log_that_was_deleted_takes_no_more_writes() {
        for suffix in ["-wal", "-shm"] {
            let file = file(&format!("deleted{suffix}"));
            let store = SqliteStore::open(&file).unwrap();
            assert_eq!(store.sweep(1).wait().unwrap(), 0);
            let mut log = file.clone().into_os_string();
            log.push(suffix);
            std::fs::remove_file(&log).unwrap();
            // Another process would now write to a log, or decide by locks, that this one never sees.
            let error = store.sweep(1).wait().unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
            assert!(error.to_string().contains("deleted or replaced"), "{error}");
            drop(store);
            std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_deleted_takes_no_more_writes() {
        let file = file("deleted");
        let store = SqliteStore::open(&file).unwrap();
        assert_eq!(store.sweep(1).wait().unwrap(), 0);
        std::fs::remove_file(&file).unwrap();
        let error = store.sweep(1).wait().unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Misconfigured);
        assert!(error.to_string().contains("deleted or replaced"), "{error}");
        drop(store);
        std::fs::remove_dir_all(file.parent().unwrap()).unwrap();
    }
}

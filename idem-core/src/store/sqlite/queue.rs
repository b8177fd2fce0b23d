//! What waits for the writer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::promise::Promise;
use super::work::{Said, Wait, Work};
use crate::StoreError;

/// One piece of work, and whom to tell.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) promise: Promise<Result<Said, StoreError>>,
}

/// What the writer does next.
pub(super) enum Next {
    /// The batch, in one transaction.
    Batch(Wait),
    /// Copy the log back.
    Tidy,
    /// Put some keys into the index.
    Index,
    /// Let go of the moment that is kept for the next transaction.
    LetGo,
    /// Nothing, ever again.
    End,
}

/// What the engine needs, besides what it is asked for.
pub(super) struct Needs {
    /// Pages in the log.
    pub(super) logged: usize,
    /// Whether there are keys to put into the index.
    pub(super) index: bool,
    /// Whether it keeps a moment that has to be let go of in time.
    pub(super) let_go: bool,
}

/// Jobs in the order of their arrival, those that need the disk apart from those that do not.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    filled: Condvar,
    /// Whether there are others, as it was when the lock was last held.
    crowded: AtomicBool,
    /// Whether the writer knows of a moment that is kept.
    watches: AtomicBool,
    /// Whether there was a transaction since it last looked after that.
    stirred: AtomicBool,
}

struct Waiting {
    quick: VecDeque<Job>,
    lasting: VecDeque<Job>,
    /// Quick batches taken while a lasting job waited.
    passed: u32,
    /// Jobs in the last batch.
    last: usize,
    tidy: Option<Tidy>,
    /// Whether there are keys to put into the index.
    index: bool,
    /// Batches taken since some were put there last.
    batches: u32,
    /// Whether the writer has nothing to do, as before it has begun.
    idle: bool,
    closed: bool,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            quick: VecDeque::new(),
            lasting: VecDeque::new(),
            passed: 0,
            last: 0,
            tidy: None,
            index: false,
            batches: 0,
            idle: true,
            closed: false,
        }
    }
}

/// How soon the log has to be copied back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tidy {
    WhenIdle,
    Now,
}

impl Queue {
    /// Jobs in one transaction at most: enough that its sync is nothing for each, few enough that the first does not wait long.
    pub(super) const BATCH: usize = 256;
    /// How many quick batches may go ahead of a job that needs the disk. Each may bring more jobs to share its sync.
    const PATIENCE: u32 = 4;
    /// Pages in the log after which it is copied back when there is nothing else to do, and in any case. The first is SQLite's own: a log
    /// that has not been as long before grows, and a sync of a file that grows takes twice as long.
    const LOG: (usize, usize) = (1_000, 8_000);

    /// How long nobody has to come until there is nothing to do, where there were many or a moment is kept.
    const PAUSE: Duration = Duration::from_millis(20);

    /// Adds a job, or gives it back if the queue is closed.
    pub(super) fn push(&self, job: Job) -> Option<Job> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Some(job);
        }
        match job.work.wait() {
            Wait::Commit => waiting.quick.push_back(job),
            Wait::Disk => waiting.lasting.push_back(job),
        }
        self.wake(waiting);
        None
    }

    /// Whether there is nobody to share a transaction with: nothing waits, and the last batch was of one job.
    pub(super) fn is_quiet(&self) -> bool {
        // A guess: who is wrong waits for the engine, or has a transaction to itself.
        !self.crowded.load(Ordering::Relaxed)
    }

    /// Whether the writer is at work, or about to be.
    pub(super) fn is_busy(&self) -> bool {
        !self.lock().idle
    }

    /// Says what the engine needs. Returns whether somebody is there to see to it.
    pub(super) fn due(&self, needs: &Needs) -> bool {
        let (soon, at_last) = Self::LOG;
        let tidy = needs.logged >= soon;
        let watch = needs.let_go && !self.watches();
        self.stirred.store(needs.let_go && !watch, Ordering::Relaxed);
        if !tidy && !needs.index && !watch {
            return true;
        }
        let mut waiting = self.lock();
        if tidy {
            waiting.tidy = Some(if needs.logged >= at_last { Tidy::Now } else { Tidy::WhenIdle });
        }
        waiting.index |= needs.index;
        let is_there = !waiting.closed;
        if watch {
            self.watches.store(is_there, Ordering::Relaxed);
        }
        if tidy || needs.index {
            self.wake(waiting);
        } else if waiting.idle {
            // It only begins to count the time, and nobody has to make room for that.
            drop(waiting);
            self.filled.notify_one();
        }
        is_there
    }

    /// Waits for jobs and moves a batch of one kind into `batch`.
    pub(super) fn next(&self, batch: &mut Vec<Job>) -> Next {
        let mut waiting = self.lock();
        let mut paused = false;
        loop {
            let quick = !waiting.quick.is_empty();
            let lasting = !waiting.lasting.is_empty();
            let nothing = !quick && !lasting;
            // In turns with what is waited for.
            if waiting.index && !waiting.closed && (nothing || waiting.batches > 0) {
                waiting.index = false;
                waiting.batches = 0;
                return Next::Index;
            }
            // Among many there is always an instant without a job, and the next comes at once.
            let pause = waiting.tidy == Some(Tidy::WhenIdle) && nothing && waiting.last > 1 && !paused;
            if waiting.tidy == Some(Tidy::Now) || waiting.tidy.is_some() && nothing && !pause {
                waiting.tidy = None;
                return Next::Tidy;
            }
            if self.watches() && nothing && paused && !self.stirred.swap(false, Ordering::Relaxed) {
                self.watches.store(false, Ordering::Relaxed);
                return Next::LetGo;
            }
            let wait = if lasting && (!quick || waiting.passed >= Self::PATIENCE) {
                Wait::Disk
            } else if quick {
                Wait::Commit
            } else if waiting.closed {
                return Next::End;
            } else {
                waiting.idle = true;
                self.crowded.store(waiting.last > 1, Ordering::Relaxed);
                if pause || self.watches() {
                    let woken = self.filled.wait_timeout_while(waiting, Self::PAUSE, |waiting| waiting.idle);
                    let timeout;
                    (waiting, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
                    paused = timeout.timed_out();
                } else {
                    waiting = self.filled.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
                waiting.idle = false;
                continue;
            };
            let jobs = match wait {
                Wait::Commit => &mut waiting.quick,
                Wait::Disk => &mut waiting.lasting,
            };
            let count = jobs.len().min(Self::BATCH);
            batch.extend(jobs.drain(..count));
            waiting.last = count;
            waiting.batches = waiting.batches.saturating_add(1);
            waiting.passed = if wait == Wait::Commit && lasting { waiting.passed + 1 } else { 0 };
            return Next::Batch(wait);
        }
    }

    /// Lets what waits be finished and nothing more in.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        self.wake(waiting);
    }

    /// Takes out all that waits, because nobody will come for it.
    pub(super) fn abandon(&self) -> impl Iterator<Item = Job> + use<> {
        let mut waiting = self.lock();
        waiting.closed = true;
        self.crowded.store(false, Ordering::Relaxed);
        self.watches.store(false, Ordering::Relaxed);
        let quick = std::mem::take(&mut waiting.quick);
        quick.into_iter().chain(std::mem::take(&mut waiting.lasting))
    }

    fn watches(&self) -> bool {
        self.watches.load(Ordering::Relaxed)
    }

    /// A writer at work looks again by itself; a system call for each job would cost more than the job.
    fn wake(&self, mut waiting: MutexGuard<'_, Waiting>) {
        let idle = std::mem::take(&mut waiting.idle);
        self.crowded.store(!waiting.closed, Ordering::Relaxed);
        drop(waiting);
        if idle {
            self.filled.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// A queue whose log is due when there is nothing to do, after a batch of so many jobs.
    fn after_a_batch_of(last: usize) -> Queue {
        let queue = Queue::default();
        queue.lock().last = last;
        queue.due(&Needs { logged: Queue::LOG.0, index: false, let_go: false });
        queue
    }

    #[test]
    fn among_many_the_log_is_copied_back_once_nobody_has_come_for_a_while() {
        let queue = after_a_batch_of(2);
        let started = Instant::now();
        assert!(matches!(queue.next(&mut Vec::new()), Next::Tidy));
        assert!(started.elapsed() >= Queue::PAUSE);
    }

    #[test]
    fn a_moment_is_let_go_of_once_nobody_has_come_for_a_while() {
        let queue = Queue::default();
        let keeps = Needs { logged: 0, index: false, let_go: true };
        assert!(queue.due(&keeps));
        let started = Instant::now();
        assert!(queue.is_quiet(), "nobody has to queue for that");
        assert!(matches!(queue.next(&mut Vec::new()), Next::LetGo));
        assert!(started.elapsed() >= Queue::PAUSE);
        // Somebody came meanwhile.
        queue.due(&keeps);
        queue.due(&keeps);
        let started = Instant::now();
        assert!(matches!(queue.next(&mut Vec::new()), Next::LetGo));
        assert!(started.elapsed() >= 2 * Queue::PAUSE);
        queue.close();
        assert!(!queue.due(&keeps), "there is nobody left to do it");
        assert!(matches!(queue.next(&mut Vec::new()), Next::End));
    }

    #[test]
    fn a_queue_that_is_closed_ends_without_a_wait() {
        let queue = after_a_batch_of(2);
        queue.close();
        assert!(matches!(queue.next(&mut Vec::new()), Next::End));
        assert!(queue.is_quiet());
    }
}

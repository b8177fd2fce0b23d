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
    /// Nothing, ever again.
    End,
}

/// Jobs in the order of their arrival, those that need the disk apart from those that do not.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    filled: Condvar,
    /// Whether there are others, as it was when the lock was last held.
    crowded: AtomicBool,
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

    /// How long nobody has to come until that is nothing to do, where there were many.
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

    /// Says how many pages are in the log, and whether there are keys to put into the index.
    pub(super) fn due(&self, pages: usize, index: bool) {
        let (soon, at_last) = Self::LOG;
        if pages < soon && !index {
            return;
        }
        let mut waiting = self.lock();
        if pages >= soon {
            waiting.tidy = Some(if pages >= at_last { Tidy::Now } else { Tidy::WhenIdle });
        }
        waiting.index |= index;
        self.wake(waiting);
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
            // Among many there is always a moment without a job, and the next comes at once.
            let pause = waiting.tidy == Some(Tidy::WhenIdle) && nothing && waiting.last > 1 && !paused;
            if waiting.tidy == Some(Tidy::Now) || waiting.tidy.is_some() && nothing && !pause {
                waiting.tidy = None;
                return Next::Tidy;
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
                if pause {
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
        let quick = std::mem::take(&mut waiting.quick);
        quick.into_iter().chain(std::mem::take(&mut waiting.lasting))
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
        queue.due(Queue::LOG.0, false);
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
    fn a_queue_that_is_closed_ends_without_a_wait() {
        let queue = after_a_batch_of(2);
        queue.close();
        assert!(matches!(queue.next(&mut Vec::new()), Next::End));
        assert!(queue.is_quiet());
    }
}

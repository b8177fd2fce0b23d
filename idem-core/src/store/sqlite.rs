//! Records in one SQLite file.
//!
//! # How an operation goes
//!
//! A claim is looked up first, on the caller's thread and without a lock: a duplicate gets its answer there, and nothing is
//! written. While nobody else writes, a new message is granted there too, since that waits for no disk. All else is queued for
//! the one thread that writes. It takes what has gathered into one `begin immediate … commit`, finds each record, asks
//! [`decide`](crate::machine::decide), writes what that says, and answers once the commit is done. So the protocol is not
//! written down a second time in SQL, and no look-then-write race can be: the lock is held from the look to the write, against
//! other processes too. A thread that blocks for its answer while nobody else writes does the same work itself, and is spared
//! two hops.
//!
//! Records lie in the order of their arrival. Their keys are digests, so an index of them is written all over the file; in a file of the
//! store's own it is behind, and gets many keys at a time and in their order. The keys of the rows behind it are in the memory of each
//! process, which reads those that others have added as it comes upon them. See [`tail`] for why that misses none.
//!
//! What is nearly always found is not looked for: a claim is inserted unless there is a record, and the end of an attempt is
//! written unless somebody else holds it. While one message after the other is new, claims are granted, or go to the writer if that
//! is at work, without a look before.
//!
//! A claim keeps room in its row for a result like the last ones, so that rows do not grow and move. Between two transactions the writing connection
//! keeps the moment at which it reads, while nobody else writes. See the engine's `room` and `moment`.
//!
//! Power loss: the file is in write-ahead mode. What must last (results, deletions, claims that say so) commits with
//! `synchronous = full`; claims of handlers that rerun lapsed messages, renewals and releases commit with `normal`, which
//! leaves out the sync. Losing one of these with the power means what a lapse means.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use self::engine::Engine;
use self::pending::Pending;
use self::readers::{Reader, Readers};
use self::row::Glance;
use self::tail::Keys;
use self::work::{Said, Work};
use self::writer::Writer;
use super::{Classed, Reply, Store, StoreClass, StoreIdentity, class};
use crate::clock::Clock;
use crate::machine::{
    Answer, Change, Claim, Completion, End, Ended, Forgotten, Operation, Recorded, Released, Renewal,
    Renewed, Snapshot, Verdict, decide,
};
use crate::{RecordId, StoreError, Token};

mod builder;
mod engine;
mod file_system;
mod inbox;
mod lookup;
mod novelty;
mod open;
mod pending;
mod promise;
mod queue;
mod readers;
mod row;
mod shared;
mod tail;
mod work;
mod writer;

pub use builder::SqliteStoreBuilder;

/// Records in one SQLite file, for any number of processes on one host.
///
/// A clone is another handle to the same store. The last handle to be dropped waits until what is queued has been written.
///
/// - **One claim** of a new message costs one transaction, shared with whatever else is waiting; a duplicate costs one look. A
///   completion waits for one sync of the disk, shared too. Looks are made on the caller's thread, and so are claims of handlers
///   that rerun lapsed messages while nobody else writes: neither waits for the disk or for another process.
/// - **A restart, a crash or kill** loses nothing that was acknowledged. **Power loss** takes no result, no deletion and no
///   claim of a handler that does not rerun; it may take the last claims, renewals and releases of others, which is as if
///   their workers had fallen silent.
/// - **Size**: a record takes 214 bytes of the file with a result of 64 bytes (measured over a million), and the difference if its result is
///   longer. So `rate × keep × 214 bytes`: 10 messages a second that are kept for 45 days are 8.3 GB, and for 7 days 1.3 GB. Dead records
///   are deleted along with later writes, and by [`sweep`](Store::sweep). The file does not shrink; its
///   pages are used again. A full disk, or [`max_bytes`](SqliteStoreBuilder::max_bytes), makes it refuse with
///   [`Full`](crate::StoreErrorKind::Full) until records have ended; those it then deletes by itself.
/// - **Memory**: at most 24 MB for pages of the file, and 2 MB for the keys of the last messages, up to some 16,000, which the file's
///   index does not know yet, besides those of one batch. They are read when a file is opened.
/// - **Where**: a local file system. Write-ahead logging needs memory that all processes share, so network file systems are
///   refused where they can be told (on Linux). The clock is the host's wall clock.
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

struct Inner {
    clock: Clock,
    readers: Readers,
    writer: Arc<Writer>,
    thread: Option<JoinHandle<()>>,
}

impl SqliteStore {
    /// Opens the file at `path`, and makes it if it is not there. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The message names the file and the cause, and the file is left as it was.
    /// - [`Foreign`](crate::StoreErrorKind::Foreign): it is no SQLite file, belongs to another program, or to a newer idem.
    /// - [`Corrupt`](crate::StoreErrorKind::Corrupt): it is damaged.
    /// - [`ReadOnly`](crate::StoreErrorKind::ReadOnly): it, or its directory, cannot be written to.
    /// - [`Misconfigured`](crate::StoreErrorKind::Misconfigured): there is no such directory, `path` is none of a file, or it lies on a
    ///   network file system.
    /// - [`Full`](crate::StoreErrorKind::Full): there is no room for the schema.
    /// - [`Unavailable`](crate::StoreErrorKind::Unavailable): another connection kept it locked for 5 s.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(path).open()
    }

    /// Settings other than the defaults.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteStoreBuilder {
        SqliteStoreBuilder::new(path.into())
    }

    /// Transactions committed by this store's writer so far. Fewer than the operations, if they came together.
    #[doc(hidden)]
    pub fn commits(&self) -> u64 {
        self.0.writer.commits()
    }

    /// Puts all keys into the index of the file. For tests; by itself it is done in steps, once there are many.
    #[doc(hidden)]
    pub fn index_all(&self) -> Result<(), StoreError> {
        self.index_steps(usize::MAX)
    }

    /// Goes so many steps towards that.
    #[doc(hidden)]
    pub fn index_steps(&self, steps: usize) -> Result<(), StoreError> {
        self.0.writer.index_steps(steps)
    }

    fn start(builder: SqliteStoreBuilder) -> Result<Self, StoreError> {
        let SqliteStoreBuilder { path, busy_timeout, max_bytes, clock, shared, tail } = builder;
        let place = open::locate(&path)?;
        let connection = open::writer(&place, busy_timeout, max_bytes, shared)?;
        let keys = Arc::new(if shared { Keys::Unique } else { Keys::load(&connection, &place)? });
        let readers = Readers::open(&place, busy_timeout, keys.clone())?;
        let mut engine = Engine::new(connection, place.clone(), clock.clone(), busy_timeout, keys, tail);
        engine.index_first();
        let (writer, thread) = Writer::start(engine, place)?;
        Ok(Self(Arc::new(Inner { clock, readers, writer, thread: Some(thread) })))
    }

    /// Judges a claim without the writer, where that changes nothing.
    fn look(&self, claim: &Claim, reader: &Reader<'_>) -> Result<Option<Verdict>, StoreError> {
        let glance = reader.glance(&claim.id)?;
        self.0.writer.novelty.note(glance.is_none());
        let found = match glance {
            None => return Ok(None),
            Some(Glance::Ended(record)) => Some(record),
            Some(Glance::Unsettled) => reader.find(&claim.id)?,
        };
        let operation = Operation::Claim(claim.clone());
        match decide(found.as_ref(), &operation, self.0.clock.now()) {
            (Answer::Claim(verdict), Change::None) => Ok(Some(verdict)),
            _ => Ok(None),
        }
    }

    /// Sends the end of an attempt.
    fn record(&self, id: RecordId, ending: Operation) -> Reply<Recorded> {
        self.queue(Work::One(id, ending), |said| match said {
            Said::One(Answer::Record(recorded)) => Some(recorded),
            _ => None,
        })
    }

    /// Sends `work` and turns its answer into the reply with `read`, which gets no answer of another kind.
    fn queue<T: Send + 'static>(&self, work: Work, read: fn(Said) -> Option<T>) -> Reply<T> {
        let pending = Pending::new(self.0.writer.clone(), work);
        Reply::later(async move {
            pending.await.map(|said| read(said).expect("each work has answers of one kind"))
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.writer.queue.close();
        if let Some(thread) = self.thread.take() {
            // A waker may drop the last handle on the writer's own thread, which cannot wait for itself.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl Store for SqliteStore {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    fn class(&self) -> StoreClass {
        StoreClass::Transactional
    }

    fn clock(&self) -> Clock {
        self.0.clock.clone()
    }

    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(&*self.0)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        let judged = match self.0.writer.claim_in_place(claim) {
            ControlFlow::Break(judged) => judged,
            ControlFlow::Continue(()) if self.0.writer.expects_new() => Ok(None),
            ControlFlow::Continue(()) => self.look(claim, &self.0.readers.look()),
        };
        match judged {
            Ok(Some(verdict)) => Reply::ready(Ok(verdict)),
            Ok(None) => self.queue(Work::One(claim.id, Operation::Claim(claim.clone())), |said| match said {
                Said::One(Answer::Claim(verdict)) => Some(verdict),
                _ => None,
            }),
            Err(error) => Reply::ready(Err(error)),
        }
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let looking = match self.0.readers.look_at_once() {
            Ok(looking) => looking,
            Err(error) => return Reply::ready(Err(error)),
        };
        let mut verdicts = Vec::with_capacity(claims.len());
        for claim in claims {
            match self.look(claim, &looking) {
                Ok(Some(verdict)) => verdicts.push(verdict),
                Ok(None) => {
                    return self.queue(Work::Claims(claims.to_vec()), |said| match said {
                        Said::Claims(verdicts) => Some(verdicts),
                        _ => None,
                    });
                }
                Err(error) => return Reply::ready(Err(error)),
            }
        }
        Reply::ready(Ok(verdicts))
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.queue(Work::One(renewal.id, Operation::Renew(renewal.clone())), |said| match said {
            Said::One(Answer::Renew(renewed)) => Some(renewed),
            _ => None,
        })
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        self.record(completion.id, Operation::Complete(completion.clone()))
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        self.record(completion.id, Operation::Fail(completion.clone()))
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.queue(Work::One(*id, Operation::Release(*token)), |said| match said {
            Said::One(Answer::Release(released)) => Some(released),
            _ => None,
        })
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        if ends.is_empty() {
            return Reply::ready(Ok(Vec::new()));
        }
        self.queue(Work::Ends(ends.to_vec()), |said| match said {
            Said::Ended(ended) => Some(ended),
            _ => None,
        })
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        self.queue(Work::One(*id, Operation::Forget { force }), |said| match said {
            Said::One(Answer::Forget(forgotten)) => Some(forgotten),
            _ => None,
        })
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        Reply::ready(self.0.readers.look().find(id).map(|found| {
            match decide(found.as_ref(), &Operation::Inspect, self.0.clock.now()) {
                (Answer::Inspect(snapshot), _) => snapshot,
                _ => None,
            }
        }))
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        self.queue(Work::Sweep { after: 0, left: limit, swept: 0 }, |said| match said {
            Said::Swept(swept) => Some(swept),
            _ => None,
        })
    }
}

impl Classed for SqliteStore {
    type Class = class::Transactional;
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.0.writer.place.path())
            .field("clock", &self.0.clock)
            .finish_non_exhaustive()
    }
}

//! Records in one table of a PostgreSQL database.
//!
//! # How an operation goes
//!
//! Each is one statement that commits by itself, in `read committed`, whatever the database's defaults are: so there is no transaction
//! that a dropped future could leave open. A claim makes the record unless there is one, and says what it found: that is its answer if it
//! changes nothing, and [`decide`](crate::machine::decide) puts it into words. A session that commits between the two leaves neither an
//! answer nor a change: the statement is sent again. Some have a second statement for rarer cases: a claim that finds a record
//! to take over sends an upsert whose condition is judged on the row once that is locked; a completion that finds nothing to write asks why.
//! While no duplicates come, a claim does not say what it found, which costs the server a third less, and asks with that upsert if it made
//! nothing; while nearly all claims are of finished messages, it is preceded by a look alone, which costs half.
//!
//! Times are read from the server's clock where a row is judged, and never taken from the start of a transaction. Each grant and renewal
//! says how long it had to wait after that; one whose lease is noticeably shorter by it is asked for again, by the same token.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

use self::connections::Connections;
use self::place::Place;
use self::proxied::Proxied;
use self::runtime::OnRuntime;
use self::statements::Statements;
use self::storm::Storm;
use self::sweep::Walk;
use super::{Classed, Reply, Store, StoreClass, StoreIdentity, class};
use crate::clock::Clock;
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use crate::{RecordId, StoreError, Token};

mod ask;
mod builder;
mod claims;
mod connections;
mod endings;
mod fault;
mod holding;
mod inbox;
mod migrate;
mod names;
mod open;
mod place;
mod proxied;
mod row;
mod runtime;
mod session;
mod statements;
mod storm;
mod sweep;
mod target;

pub use builder::PostgresStoreBuilder;
pub use inbox::PostgresRecords;
pub use target::PostgresTarget;

/// Records in one table of a PostgreSQL database (14 or newer), for any number of hosts.
///
/// A clone is another handle to the same store.
///
/// - **One claim** of a new message costs one statement, which waits for the disk; so does a completion. **A duplicate** costs one
///   statement that takes no lock and writes nothing, or two if the eight claims before were of new messages; taking over what was
///   released or has lapsed costs two. Many claims or completions at once are one statement too.
/// - **A crash or power loss**, of this process or of the server, takes nothing that was acknowledged, if the server's `fsync` and
///   `full_page_writes` are on, as they are by default. **A failover** to a replica that follows asynchronously can take the newest
///   commits with it: a claim that is lost lets the message run again, and a result that is lost is recorded anew by its attempt if that
///   is still at work. Synchronous replication is the cure.
/// - **Size**: a record takes 354 bytes with a result of 100 bytes, and 77 in the index (measured over a million; more if results come long
///   after their claims). So `rate × keep × 430 bytes`: 100 messages a second that are kept for 45 days are 167 GB, and for 7 days
///   26 GB. Ended records are deleted along with later claims, and by [`sweep`](Store::sweep).
/// - **A full disk** makes it refuse with [`Full`](crate::StoreErrorKind::Full).
/// - **The clock** is the server's. Clocks of consumers do not matter.
/// - **The runtime**: operations run in the tokio runtime that the store was opened in; any executor can wait for them. Handlers that
///   are plain `fn`s need it to be a multi-threaded one. A reply that its only thread waits for is an error once the
///   [timeout](PostgresStoreBuilder::timeout) has passed.
/// - **Behind a pooling proxy** that hands out a connection for each transaction, connect with `statement_cache_capacity(0)` (in a URL,
///   `?statement-cache-capacity=0`). Each operation is then a transaction of its own, of four round trips, that needs no prepared statement
///   to be found again and leaves no setting behind. A proxy that keeps track of prepared statements itself needs it too, or the
///   settings of the store's sessions stay with whoever is next. One that hands out a connection for each session needs none of that.
///
/// The table is made by [`migrate`](PostgresStoreBuilder::migrate), or by the statements that [`schema`](Self::schema) prints.
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    runtime: Handle,
    connections: Connections,
    proxied: Option<Proxied>,
    statements: Statements,
    inbox: PostgresRecords,
    place: Place,
    timeout: Duration,
    relaxed_claims: bool,
    sweeps: bool,
    walk: Walk,
    storm: Storm,
    clock: Clock,
}

impl PostgresStore {
    /// Connects with the default settings. The table must be there: see [`migrate`](PostgresStoreBuilder::migrate).
    ///
    /// # Errors
    /// As [`PostgresStoreBuilder::open`].
    ///
    /// # Cancellation
    /// Nothing is left behind.
    pub async fn open(target: impl Into<PostgresTarget>) -> Result<Self, StoreError> {
        Self::builder(target).open().await
    }

    /// Settings other than the defaults.
    pub fn builder(target: impl Into<PostgresTarget>) -> PostgresStoreBuilder {
        PostgresStoreBuilder::new(target.into())
    }

    /// The statements that make the table `idem_record`, for those who run migrations themselves. For another name, see
    /// [`print_schema`](PostgresStoreBuilder::print_schema).
    pub fn schema() -> String {
        include_str!("postgres/schema.sql").replace("{table}", "idem_record")
    }

    /// The reply that runs `operation` on this store within its timeout.
    fn reply<T, F>(&self, doing: &'static str, operation: impl FnOnce(Arc<Inner>) -> F) -> Reply<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let inner = self.0.clone();
        let work = operation(self.0.clone());
        let within = async move { inner.within(doing, work).await };
        Reply::later(OnRuntime::new(self.0.runtime.clone(), self.0.place.clone(), self.0.timeout, within))
    }
}

impl Inner {
    /// Deletes ended records in pace with the new ones.
    fn granted(self: &Arc<Self>, verdicts: &[Verdict]) {
        let grants = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Claimed(_))).count();
        if self.sweeps && self.walk.is_due(grants as u64) {
            let inner = self.clone();
            self.runtime.spawn(async move { inner.sweep_some().await });
        }
    }
}

impl Store for PostgresStore {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    fn class(&self) -> StoreClass {
        StoreClass::Transactional
    }

    /// By default the host's, for the driver to time its renewals by. Records are judged by the server's.
    fn clock(&self) -> Clock {
        self.0.clock.clone()
    }

    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(&*self.0)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        let claim = claim.clone();
        self.reply("claim", |inner| async move {
            let verdict = inner.claim(&claim).await?;
            inner.granted(std::slice::from_ref(&verdict));
            Ok(verdict)
        })
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let claims = claims.to_vec();
        self.reply("claim", |inner| async move {
            let verdicts = inner.claim_many(&claims).await?;
            inner.granted(&verdicts);
            Ok(verdicts)
        })
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        let renewal = renewal.clone();
        self.reply("renew a lease", |inner| async move { inner.renew(&renewal).await })
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        let completion = completion.clone();
        self.reply("record a result", |inner| async move { inner.complete(&completion).await })
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        let completion = completion.clone();
        self.reply("record an error", |inner| async move { inner.fail(&completion).await })
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        let (id, token) = (*id, *token);
        self.reply("release a claim", move |inner| async move { inner.release(&id, &token).await })
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        let ends = ends.to_vec();
        self.reply("end attempts", |inner| async move { inner.end_many(&ends).await })
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        let id = *id;
        self.reply("forget a record", move |inner| async move { inner.forget(&id, force).await })
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        let id = *id;
        self.reply("look at a record", move |inner| async move { inner.inspect(&id).await })
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        let limit = limit as u64;
        self.reply("sweep", move |inner| async move { inner.sweep(limit).await })
    }

    /// A runtime of one thread could not answer while that one waits.
    fn can_block(&self) -> bool {
        self.0.runtime.runtime_flavor() != RuntimeFlavor::CurrentThread
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.0.runtime.spawn(task);
    }
}

impl Classed for PostgresStore {
    type Class = class::Transactional;
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &format_args!("{}", self.0.place))
            .finish_non_exhaustive()
    }
}

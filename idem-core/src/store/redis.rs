//! Records in Redis or Valkey: a single server, the primary that Sentinels name, or a cluster.
//!
//! # How an operation goes
//!
//! One command on one key, mostly an `EVALSHA`. The script reads the server's clock and the record, finds out whether to write,
//! writes, and answers with the record as it found it. What the answer is, [`decide`](crate::machine::decide) says here, on that
//! record at that instant: the script's part of the protocol is only what to write, and a reply tells whether it came to the same.
//!
//! Scripts take the server three times as long as plain commands. So the two operations of nearly every message, a first claim and
//! its success, do with less where that is safe (`quick.rs`), and those that come together go out together (`crowd.rs`).
//!
//! A script's reply brings the token of its call with it. One that does not is another call's: the connection is left, and the
//! outcome is unknown. What fails with its connection is sent once more over a new one, which is safe with the same token; what gets
//! no answer in time is [`Unavailable`](crate::StoreErrorKind::Unavailable), which says just that. So does a deletion whose connection
//! fails: it has no token, and sent again it would delete what another caller has claimed or recorded meanwhile.
//!
//! The lease is a field of the record, and not the lifetime of its key: with the key, tries, fence and age would vanish.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::RuntimeFlavor;

use self::call::Call;
use self::link::{Link, now};
use self::replicas::Replicas;
use super::{Classed, Reply, Store, StoreClass, StoreIdentity, class};
use crate::clock::Clock;
use crate::machine::{
    Answer, Claim, Completion, End, Ended, Forgotten, Operation, Recorded, Released, Renewal, Renewed,
    Snapshot, Verdict,
};
use crate::{RecordId, StoreError, Token};

mod alone;
mod ask;
mod batch;
mod builder;
mod call;
mod check;
mod cluster;
mod crowd;
mod estimate;
mod health;
mod link;
mod nodes;
mod own_client;
mod place;
mod quick;
mod record;
mod redirect;
mod replicas;
mod round;
mod script;
mod slots;
mod source;
mod within;

pub use builder::RedisStoreBuilder;

/// Records in Redis (6.2 or later) or Valkey, for any number of hosts.
///
/// A clone is another handle to the same store.
///
/// - **An operation** costs one round trip; a first delivery two, a duplicate one; a batch one for all its claims, and one for all its
///   results (in a cluster for each node). Where it also gives messages back, each record of that round trip is a script of its own,
///   which takes the server longer. All share one connection, which is made anew when it fails.
/// - **Time** is the server's. Clocks of clients do not matter; a server's clock that is set forward ends leases early. Leases and
///   lifetimes of ten seconds or more are exact to a second, shorter ones to the microsecond.
/// - **What survives**: what the server keeps. With `appendonly yes` and `appendfsync always`, a crash of the server takes nothing that
///   was acknowledged; with `everysec` a second of it; without an append-only file everything. **A failover** takes what the
///   new primary had not got yet, claims and results: [`wait_replicas`](RedisStoreBuilder::wait_replicas) makes claims wait for
///   it. So the class is [`Lossy`](StoreClass::Lossy), and handlers with `require = "durable"` do not compile with it.
/// - **When memory is full** (`noeviction`), claims are refused with [`Full`](crate::StoreErrorKind::Full), before the body.
///   Results, renewals and releases of work that was claimed go through on Redis 7 and Valkey; on 6.2 they are refused too.
/// - **Records end by themselves**, so [`sweep`](Store::sweep) has nothing to do and returns 0. The bytes of a result whose `ttl`
///   has passed go when somebody asks for them, or else with the record.
/// - **Runtime**: connections live on the Tokio runtime that the store was opened on. Replies can be awaited on any executor. Plain
///   `fn` handlers can wait for them unless that runtime is a single thread ([`can_block`](Store::can_block)).
/// - **Rights** that a user of an access list needs: `+evalsha +eval +time +get +set +del` on its keys, and `+mget +script|load +hello
///   +info` to spare some round trips (`+wait` for replicas, `+cluster|slots +asking` in a cluster). What cannot be asked for is one of
///   the [`warnings`](Self::warnings).
///
/// # Size
///
/// Bytes of the server's memory for one record, with its key and its expiry (Redis 7.0, one million records, the default prefix):
///
/// | | with a fingerprint | without |
/// | --- | --- | --- |
/// | no result | 224 | 208 |
/// | a result of 200 bytes | 464 | 464 |
///
/// As many records live at once as messages arrive within `keep`, and results stay as long as their records:
///
/// ```text
/// memory = messages per second * keep in seconds * bytes per record
///        = 10/s * 45 days (3,888,000 s) * 224 bytes = 8.7 GB
/// ```
///
/// Leave a fifth on top for fragmentation, and as much again as the server writes while it forks to save.
#[derive(Clone)]
pub struct RedisStore(Arc<Inner>);

struct Inner {
    link: Arc<Link>,
    /// Where claims go if they wait for replicas.
    confirming: Option<(Arc<Link>, Replicas)>,
    prefix: Arc<[u8]>,
}

impl RedisStore {
    /// Connects to the server at `url`, `redis://user:password@host:port/database` or `rediss://…` with TLS (which needs the feature
    /// `tokio-rustls-comp` of the crate `redis`). If it is a node of a cluster, the store is in the cluster.
    ///
    /// # Errors
    /// As [`RedisStoreBuilder::connect`].
    ///
    /// # Cancellation
    /// Leaves nothing behind.
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::builder(url).connect().await
    }

    /// Settings other than the defaults.
    pub fn builder(url: impl Into<String>) -> RedisStoreBuilder {
        RedisStoreBuilder::url(url.into())
    }

    /// The same, over a client of your own: with certificates, or without a URL. The store makes its own connection.
    pub fn over(client: redis::Client) -> RedisStoreBuilder {
        RedisStoreBuilder::client(client)
    }

    /// The same, over a client of your own for a cluster. Redirections are then followed by that client, whose `ASKING` another call of
    /// the store can take for its own while a slot moves: a message may then run twice. And while it finds out where a slot has moved, many
    /// calls at once can bring it to a standstill, which ends with their [deadline](RedisStoreBuilder::deadline), after which the store
    /// connects anew. With URLs, idem keeps its connections and follows redirections itself.
    ///
    /// A batch is one pipeline for each node here too. One of which a part is elsewhere, since a slot is being moved, the client sends
    /// to and fro as a whole, as often as it retries; that does no harm, but only then do the calls go one by one. Those of that slot
    /// do so at once for the next ten seconds. A client made with few `retries` is quicker there.
    pub fn over_cluster(client: redis::cluster::ClusterClient) -> RedisStoreBuilder {
        RedisStoreBuilder::cluster_client(client)
    }

    /// What an operator should know of the server: an eviction policy that deletes claims, or that cannot be asked for; no append-only
    /// file. As of the last connection or [`check`](Self::check); the store checks once a minute. Empty is good.
    pub fn warnings(&self) -> Vec<String> {
        self.0.link.health.last().warnings()
    }

    /// How often the server was found to have been started anew since this store was opened, at a new connection or a
    /// [`check`](Self::check). It then knows only what was on its disk.
    pub fn restarts(&self) -> u64 {
        self.0.link.health.restarts()
    }

    /// Asks the server anew how it is set up, for a health endpoint: settings may have been changed while it ran.
    ///
    /// # Errors
    /// [`Unavailable`](crate::StoreErrorKind::Unavailable) if it does not answer.
    ///
    /// # Cancellation
    /// Leaves nothing behind.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.0.link.check().await.map(|report| report.warnings())
    }

    fn new(link: Arc<Link>, confirming: Option<(Arc<Link>, Replicas)>, prefix: Arc<[u8]>) -> Self {
        Self(Arc::new(Inner { link, confirming, prefix }))
    }

    /// Sends one operation, and turns its answer into the reply with `read`, which gets no answer of another kind.
    fn operate<T: Send + 'static>(
        &self,
        id: RecordId,
        operation: Operation,
        read: fn(Answer) -> Option<T>,
    ) -> Reply<T> {
        let this = self.clone();
        let call = Call::new(id, operation);
        Reply::later(async move {
            let link = &this.0.link;
            let answer = in_time(link, call.script().doing, link.ask(&this.0.prefix, &call)).await?;
            Ok(read(answer).expect(ONE_KIND))
        })
    }

    /// Claims, and hands a grant out once replicas have it.
    fn claim_confirmed(&self, link: Arc<Link>, claim: &Claim, replicas: Replicas) -> Reply<Verdict> {
        let this = self.clone();
        let call = Call::new(claim.id, Operation::Claim(claim.clone()));
        Reply::later(async move {
            let claimed = link.ask_confirmed(&this.0.prefix, &call, replicas);
            let answer = in_time(&link, call.script().doing, claimed).await?;
            Ok(verdict(answer).expect(ONE_KIND))
        })
    }

    /// Sends many operations of one kind.
    fn operate_all<T: Send + 'static>(
        &self,
        operations: impl Iterator<Item = (RecordId, Operation)>,
        confirming: Option<&(Arc<Link>, Replicas)>,
        read: fn(Answer) -> Option<T>,
    ) -> Reply<Vec<T>> {
        let calls: Vec<_> = operations.map(|(id, operation)| Call::new(id, operation)).collect();
        let Some(first) = calls.first() else { return Reply::ready(Ok(Vec::new())) };
        let doing = first.script().doing;
        let this = self.clone();
        let (link, replicas) = match confirming {
            Some((link, replicas)) => (link.clone(), Some(*replicas)),
            None => (self.0.link.clone(), None),
        };
        Reply::later(async move {
            let answers = in_time(&link, doing, link.ask_all(&this.0.prefix, calls, replicas)).await?;
            Ok(answers.into_iter().map(|answer| read(answer).expect(ONE_KIND)).collect())
        })
    }
}

const ONE_KIND: &str = "each operation has answers of one kind";

/// Ends a call in time. If nothing was heard on its connection meanwhile, the next call makes another.
async fn in_time<T>(
    link: &Link,
    doing: &str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let sent = now();
    link.deadline.within(call).await.unwrap_or_else(|| {
        link.leave_silent(sent);
        Err(link.place.late(doing, link.deadline.limit()))
    })
}

fn verdict(answer: Answer) -> Option<Verdict> {
    if let Answer::Claim(verdict) = answer { Some(verdict) } else { None }
}

#[allow(clippy::needless_pass_by_value, reason = "all that read an answer have one shape")]
fn recorded(answer: Answer) -> Option<Recorded> {
    if let Answer::Record(recorded) = answer { Some(recorded) } else { None }
}

impl Store for RedisStore {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    fn class(&self) -> StoreClass {
        StoreClass::Lossy
    }

    /// Times renewals and waits on this host; what is decided is decided by the server's clock.
    fn clock(&self) -> Clock {
        self.0.link.clock.clone().map_or_else(Clock::monotonic, Clock::from)
    }

    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(&*self.0)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        match &self.0.confirming {
            Some((link, replicas)) => self.claim_confirmed(link.clone(), claim, *replicas),
            None => self.operate(claim.id, Operation::Claim(claim.clone()), verdict),
        }
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let all = claims.iter().map(|claim| (claim.id, Operation::Claim(claim.clone())));
        self.operate_all(all, self.0.confirming.as_ref(), verdict)
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.operate(renewal.id, Operation::Renew(renewal.clone()), |answer| match answer {
            Answer::Renew(renewed) => Some(renewed),
            _ => None,
        })
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        self.operate(completion.id, Operation::Complete(completion.clone()), recorded)
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        self.operate(completion.id, Operation::Fail(completion.clone()), recorded)
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.operate(*id, Operation::Release(*token), |answer| match answer {
            Answer::Release(released) => Some(released),
            _ => None,
        })
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        self.operate_all(ends.iter().map(|end| (*end.id(), end.operation())), None, Ended::of)
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        self.operate(*id, Operation::Forget { force }, |answer| match answer {
            Answer::Forget(forgotten) => Some(forgotten),
            _ => None,
        })
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        self.operate(*id, Operation::Inspect, |answer| match answer {
            Answer::Inspect(snapshot) => Some(snapshot),
            _ => None,
        })
    }

    /// Nothing to do: the server deletes records when their end has passed.
    fn sweep(&self, _: usize) -> Reply<u64> {
        Reply::ready(Ok(0))
    }

    /// Not if the store's runtime is a single thread: that may be the one that waits.
    fn can_block(&self) -> bool {
        self.0.link.runtime.runtime_flavor() != RuntimeFlavor::CurrentThread
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.0.link.runtime.spawn(task);
    }
}

impl Classed for RedisStore {
    type Class = class::Lossy;
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("place", &self.0.link.place)
            .field("replicas", &self.0.confirming.as_ref().map(|(_, replicas)| replicas))
            .finish_non_exhaustive()
    }
}

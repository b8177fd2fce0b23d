//! The connection of the moment: made when it is needed, left when it fails.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{ErrorKind, Pipeline, RedisError, RedisResult, Value, cmd};
use tokio::runtime::Handle;

use super::check::{self, Report};
use super::crowd::Crowd;
use super::estimate::Estimate;
use super::health::Health;
use super::nodes::Nodes;
use super::place::{Meaning, Place, meaning};
use super::script::{Dialect, EVERYDAY};
use super::source::{Connection, Source};
use super::within::Deadline;
use crate::clock::Clock;
use crate::join::Join;
use crate::store::sleep;
use crate::{ManualClock, StoreError, StoreErrorKind, Timestamp};

/// One connection, which calls share, and what it takes to make another.
pub(super) struct Link {
    pub(super) source: Source,
    pub(super) place: Place,
    /// Connections live there, whoever waits for their replies.
    pub(super) runtime: Handle,
    /// How long a call may take, and how long connecting may take.
    pub(super) deadline: Deadline,
    /// Whether scripts keep their line of flags.
    flags: AtomicBool,
    /// Whether first claims and their ends may do without scripts that read the clock.
    quick: AtomicBool,
    /// For tests: the clock to decide by, instead of the server's.
    pub(super) clock: Option<ManualClock>,
    pub(super) health: Arc<Health>,
    pub(super) crowd: Crowd,
    current: Mutex<Option<Live>>,
    connecting: tokio::sync::Mutex<Attempts>,
}

/// What came of attempts to connect.
#[derive(Default)]
struct Attempts {
    made: u64,
    /// When the last one began that failed, and why it did.
    failed: Option<(Timestamp, StoreError)>,
}

/// A connection, and when anything was last heard on it.
#[derive(Clone)]
pub(super) struct Live {
    pub(super) connection: Connection,
    number: u64,
    heard: Arc<AtomicU64>,
    /// The clock of the server at its other end.
    pub(super) estimate: Arc<Estimate>,
    /// Which node has what, in a cluster.
    pub(super) nodes: Arc<Nodes>,
}

impl Link {
    pub(super) fn new(
        source: Source,
        place: Place,
        runtime: Handle,
        limit: Duration,
        flags: bool,
        quick: bool,
        clock: Option<ManualClock>,
    ) -> Self {
        // Nodes of a cluster have clocks of their own, and servers that do not read flags no `SET` that does it all.
        let quick = quick && flags && clock.is_none() && !source.is_cluster();
        Self {
            source,
            place,
            runtime,
            deadline: Deadline::new(limit),
            quick: AtomicBool::new(quick),
            flags: AtomicBool::new(flags),
            clock,
            health: Arc::default(),
            crowd: Crowd::default(),
            current: Mutex::new(None),
            connecting: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        Dialect { flags: self.flags.load(Ordering::Relaxed), time: self.clock.is_none() }
    }

    /// The server is older than 7.
    pub(super) fn leave_out_flags(&self) {
        self.flags.store(false, Ordering::Relaxed);
        self.only_scripts();
    }

    pub(super) fn is_quick(&self) -> bool {
        self.quick.load(Ordering::Relaxed)
    }

    pub(super) fn only_scripts(&self) {
        self.quick.store(false, Ordering::Relaxed);
    }

    /// The connection of the moment, or a new one. It is made on the store's runtime, so that its driver runs there, and so that
    /// it is there for the next caller if this one goes away.
    pub(super) async fn live(self: &Arc<Self>) -> Result<Live, StoreError> {
        self.live_on(false).await
    }

    /// The connection of the moment, if there is one.
    pub(super) fn connected(&self) -> Option<Live> {
        self.current().clone()
    }

    async fn live_on(self: &Arc<Self>, replica: bool) -> Result<Live, StoreError> {
        if let Some(live) = self.current().clone() {
            return Ok(live);
        }
        let (link, asked) = (self.clone(), now());
        match self.runtime.spawn(async move { link.connect(asked, replica).await }).await {
            Ok(connected) => connected,
            Err(_) => Err(self
                .place
                .error(StoreErrorKind::Unavailable, "cannot connect: its Tokio runtime has ended")),
        }
    }

    /// Connects, and says what was found, be it a replica.
    pub(super) async fn first(self: &Arc<Self>) -> Result<Report, StoreError> {
        self.live_on(true).await?;
        Ok(self.health.last())
    }

    async fn connect(&self, asked: Timestamp, replica: bool) -> Result<Live, StoreError> {
        // One at a time: all who wait get what the first one makes.
        let mut attempts = self.connecting.lock().await;
        if let Some(live) = self.current().clone() {
            return Ok(live);
        }
        // An attempt that began after they asked failed: theirs would be no better. Else they would form a queue that a server which
        // answers nothing makes longer and longer, of calls that were given up long ago.
        if let Some((began, error)) = &attempts.failed
            && asked <= *began
        {
            return Err(error.clone());
        }
        let began = now();
        let connection = match self.attempt(replica).await {
            Ok(connection) => connection,
            Err(error) => {
                attempts.failed = Some((began, error.clone()));
                return Err(error);
            }
        };
        attempts.made += 1;
        let live = Live {
            connection,
            number: attempts.made,
            heard: Arc::new(AtomicU64::new(now().as_micros())),
            estimate: Arc::default(),
            nodes: Arc::default(),
        };
        *self.current() = Some(live.clone());
        Ok(live)
    }

    async fn attempt(&self, replica: bool) -> Result<Connection, StoreError> {
        let opened = self.deadline.within(async {
            match self.open().await {
                Err(error) => Err(self.unopened(error).await),
                Ok(opened) => Ok(opened),
            }
        });
        let late = || self.place.late("connect", self.deadline.limit());
        let (connection, report) = opened.await.ok_or_else(late)??;
        self.health.note(&report);
        // It refuses writes, but what it is only asked for it answers, as of some time in the past.
        if report.replica && !replica && !connection.is_cluster() {
            let what = "cannot connect: it is a read-only replica now; another server is the primary";
            return Err(self.place.error(StoreErrorKind::Unavailable, what));
        }
        Ok(connection)
    }

    /// Why there is no connection. A primary that is down is followed by another in time; one that nobody knows is not.
    async fn unopened(&self, error: RedisError) -> StoreError {
        if error.kind() == ErrorKind::MasterNameNotFoundBySentinel && self.source.is_unknown().await {
            let what = format!("cannot connect: the Sentinels know no primary of this name ({error})");
            return self.place.error(StoreErrorKind::Misconfigured, what).because(error);
        }
        self.place.fault("connect", error)
    }

    async fn open(&self) -> RedisResult<(Connection, Report)> {
        let mut connection = self.source.connect().await?;
        let report = check::ask(&mut connection).await.unwrap_or_default();
        self.load_scripts(&mut connection).await?;
        Ok((connection, report))
    }

    /// Gives the server the scripts, and finds out whether it reads flags. Where that is forbidden, the first calls do it.
    async fn load_scripts(&self, connection: &mut Connection) -> RedisResult<()> {
        if connection.is_cluster() {
            // All at once: each may have to do without some node's answer.
            let loads = EVERYDAY.map(|script| {
                let (mut connection, mut load) = (connection.clone(), cmd("SCRIPT"));
                load.arg("LOAD").arg(script.text(self.dialect()));
                Box::pin(async move { connection.ask_primaries(load).await })
            });
            Join::new(loads).await;
            return Ok(());
        }
        loop {
            let dialect = self.dialect();
            let mut load = Pipeline::new();
            for script in EVERYDAY {
                load.cmd("SCRIPT").arg("LOAD").arg(script.text(dialect));
            }
            let refused = connection.send_all(&load).await?.into_iter().find_map(as_error);
            match refused.as_ref().map(meaning) {
                Some(Meaning::NoFlags) if dialect.flags => self.leave_out_flags(),
                // It refuses everything, and not just this.
                Some(Meaning::Useless(..)) => return refused.map_or(Ok(()), Err),
                _ => return Ok(()),
            }
        }
    }

    /// What the server says of itself now.
    pub(super) async fn check(self: &Arc<Self>) -> Result<Report, StoreError> {
        let mut live = self.live().await?;
        let mut report = self.question(&mut live).await?;
        if report.is_none() {
            // Its end may be gone since it was last used.
            self.leave(&live);
            live = self.live().await?;
            report = self.question(&mut live).await?;
        }
        let Some(report) = report else {
            let what = "cannot ask it how it is: it does not answer";
            return Err(self.place.error(StoreErrorKind::Unavailable, what));
        };
        self.health.note(&report);
        if report.replica && !live.connection.is_cluster() {
            self.leave(&live);
        }
        Ok(report)
    }

    async fn question(&self, live: &mut Live) -> Result<Option<Report>, StoreError> {
        // Nodes may have changed their parts.
        live.connection.forget_owners();
        let report = self.deadline.within(check::ask(&mut live.connection)).await;
        report.ok_or_else(|| self.place.late("ask it how it is", self.deadline.limit()))
    }

    /// Asks the server once a minute how it is set up, for as long as the store lives: that may be changed while it runs.
    pub(super) fn watch(self: &Arc<Self>) {
        let link = Arc::downgrade(self);
        self.runtime.spawn(async move {
            loop {
                sleep(&Clock::monotonic(), Duration::from_secs(60)).await;
                let Some(link) = link.upgrade() else { return };
                // If it does not answer now, it will the next time.
                let _ = link.check().await;
            }
        });
    }

    /// Leaves a connection that failed. The next call makes another; calls on their way there end by themselves.
    pub(super) fn leave(&self, live: &Live) {
        let mut current = self.current();
        if current.as_ref().is_some_and(|current| current.number == live.number) {
            *current = None;
        }
    }

    /// Leaves the connection if nothing was heard on it since `since`: its other end may be gone without a word.
    pub(super) fn leave_silent(&self, since: Timestamp) {
        let mut current = self.current();
        match &*current {
            Some(Live { connection: Connection::Cluster(cluster), .. }) => cluster.leave_silent(since),
            Some(live) if live.heard.load(Ordering::Relaxed) <= since.as_micros() => *current = None,
            _ => {}
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<Live>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    pub(super) fn heard(&self) {
        self.heard.store(now().as_micros(), Ordering::Relaxed);
    }
}

pub(super) fn now() -> Timestamp {
    Clock::monotonic().now()
}

/// The error in a reply, if it is one.
pub(super) fn as_error(value: Value) -> Option<RedisError> {
    value.extract_error().err()
}

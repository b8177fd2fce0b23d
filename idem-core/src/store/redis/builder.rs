//! How a store is opened.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use redis::{ConnectionInfo, IntoConnectionInfo, RedisResult};
use tokio::runtime::Handle;

use super::RedisStore;
use super::check::Mode;
use super::link::Link;
use super::place::Place;
use super::replicas::Replicas;
use super::source::Source;
use crate::{ManualClock, StoreError, StoreErrorKind};

/// Opens a [`RedisStore`] with other than the default settings.
///
/// ```no_run
/// # extern crate idem_core as idem;
/// # async fn open() -> Result<idem::RedisStore, idem::StoreError> {
/// use std::time::Duration;
/// use idem::RedisStore;
///
/// RedisStore::builder("redis://10.0.0.7:26379")
///     .node("redis://10.0.0.8:26379")
///     .sentinel("billing")
///     .prefix("billing:")
///     .deadline(Duration::from_secs(2))
///     .wait_replicas(1, Duration::from_millis(200))
///     .connect()
///     .await
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a builder opens nothing until `connect` is called"]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct RedisStoreBuilder {
    target: Target,
    sentinel: Option<String>,
    cluster: bool,
    prefix: Vec<u8>,
    deadline: Duration,
    replicas: Option<Replicas>,
    evicting: bool,
    flags: bool,
    quick: bool,
    clock: Option<ManualClock>,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "there is one, while a store is opened")]
enum Target {
    Urls(Vec<String>),
    Client(redis::Client),
    Cluster(redis::cluster::ClusterClient),
}

impl RedisStoreBuilder {
    pub(super) fn url(url: String) -> Self {
        Self::to(Target::Urls(vec![url]))
    }

    pub(super) fn client(client: redis::Client) -> Self {
        Self::to(Target::Client(client))
    }

    pub(super) fn cluster_client(client: redis::cluster::ClusterClient) -> Self {
        Self::to(Target::Cluster(client))
    }

    fn to(target: Target) -> Self {
        Self {
            target,
            sentinel: None,
            cluster: false,
            prefix: b"idem:".to_vec(),
            deadline: Duration::from_secs(3),
            replicas: None,
            evicting: false,
            flags: true,
            quick: true,
            clock: None,
        }
    }

    /// A further URL: of another node of the cluster, or of another Sentinel. Ignored for a single server.
    pub fn node(mut self, url: impl Into<String>) -> Self {
        if let Target::Urls(urls) = &mut self.target {
            urls.push(url.into());
        }
        self
    }

    /// The URLs are those of Sentinels, and the records are on the primary that they know by this name. User, password and database in
    /// the URLs are the primary's.
    pub fn sentinel(mut self, name: impl Into<String>) -> Self {
        self.sentinel = Some(name.into());
        self
    }

    /// The URLs are those of nodes of a cluster. Found out without being said, unless the server may not be asked.
    pub fn cluster(mut self) -> Self {
        self.cluster = true;
        self
    }

    /// What keys begin with; `idem:` if not said. The 32 bytes of the record's id follow as they are. At most 64 bytes, without
    /// braces: in a cluster these would put all records on one node.
    pub fn prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long a call may take; 3 s if not said. After that its outcome is unknown, and the driver sends it again. At most a third of
    /// the shortest lease, so that a renewal that got lost can be sent again.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Hands a grant out only once so many replicas have it, and takes it back if they do not within `timeout` (at most half the
    /// [`deadline`](Self::deadline)); the claim is then [`Unavailable`](crate::StoreErrorKind::Unavailable), and its body does not
    /// run. Costs a second connection and, for each claim, the time of the replica's answer. A failover to a replica that has the
    /// grant then keeps it. Results are not waited for.
    pub fn wait_replicas(mut self, count: u32, timeout: Duration) -> Self {
        self.replicas = (count > 0).then_some(Replicas { count, timeout });
        self
    }

    /// Accepts a server whose `maxmemory-policy` is another than `noeviction`. When it is full, such a server deletes live claims and
    /// remembered results without a word, and messages run twice.
    pub fn allow_eviction(mut self) -> Self {
        self.evicting = true;
        self
    }

    /// Lets scripts do everything, as in a cluster: they read the server's clock themselves at each operation, and each reply brings the
    /// token of its call. Otherwise a first claim is one `SET … NX GET`, whose reply to a grant is just empty, and which knows the
    /// server's time to a second; it takes a third of the server's time.
    pub fn only_scripts(mut self) -> Self {
        self.quick = false;
        self
    }

    /// Leaves out the scripts' lines of flags from the start, as is done for servers older than 7 once they have refused them.
    #[doc(hidden)]
    pub fn without_flags(mut self) -> Self {
        self.flags = false;
        self
    }

    /// Decides by a clock of the test's, which the scripts are told at each call, and by no server's. Records then outlive their ends
    /// on the server.
    #[doc(hidden)]
    pub fn on_clock(mut self, clock: ManualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Connects, and asks the server how it is set up. To be awaited on the Tokio runtime that the store's connections are to live
    /// on; it needs its I/O and its timers.
    ///
    /// # Errors
    /// The message names the server and what to do, and no password.
    /// - [`Unavailable`](crate::StoreErrorKind::Unavailable): nothing answers there within the deadline, it is still reading its data, it
    ///   takes no more clients, or a failover is under way: the Sentinels know of the primary but name none that is up, a part of the
    ///   cluster is down, or the server is a replica that has no primary now. Waiting may mend it, so try again.
    /// - [`Misconfigured`](crate::StoreErrorKind::Misconfigured): the URL cannot be used, the password is wrong or missing, the server
    ///   asks for TLS, evicts, or is a Sentinel; no Sentinel knows the name; or there is no Tokio runtime.
    /// - [`ReadOnly`](crate::StoreErrorKind::ReadOnly): the server at the address is a replica, and its primary is up. A server that was
    ///   demoted a moment ago looks just like one that was always a replica. So where a failover moves the address (a name, a proxy),
    ///   this may pass too. By Sentinels or in a cluster, a replica is `Unavailable`: they will name another server. Once a store is
    ///   open, so is a server that becomes a replica: it was a primary before.
    ///
    /// # Cancellation
    /// Leaves nothing behind.
    pub async fn connect(self) -> Result<RedisStore, StoreError> {
        let place = self.place()?;
        let runtime = Handle::try_current().map_err(|cause| {
            place
                .error(StoreErrorKind::Misconfigured, "cannot connect: await this within a Tokio runtime")
                .because(cause)
        })?;
        self.check(&place)?;
        let make = |source: RedisResult<Source>| {
            let source = source.map_err(|error| place.fault("connect", error))?;
            let link = Link::new(
                source,
                place.clone(),
                runtime.clone(),
                self.deadline,
                self.flags,
                self.quick,
                self.clock.clone(),
            );
            Ok(Arc::new(link))
        };
        let mut link = make(self.source(self.cluster))?;
        let mut report = link.first().await?;
        let single = matches!(link.source, Source::One(_));
        if single && report.mode == Mode::Cluster {
            link = make(self.source(true))?;
            report = link.first().await?;
        }
        let named = !matches!(link.source, Source::One(_));
        if let Some(refusal) = report.refusal(&place, named, self.evicting) {
            return Err(refusal);
        }
        let confirming = match self.replicas {
            None => None,
            Some(replicas) => {
                let cluster = link.source.is_cluster();
                let timeout = replicas.timeout.min(self.deadline / 2);
                Some((make(self.source(cluster))?, Replicas { timeout, ..replicas }))
            }
        };
        link.watch();
        Ok(RedisStore::new(link, confirming, self.prefix.into()))
    }

    fn check(&self, place: &Place) -> Result<(), StoreError> {
        let refuse = |what| Err(place.error(StoreErrorKind::Misconfigured, what));
        if self.prefix.len() > 64 || self.prefix.iter().any(|byte| matches!(byte, b'{' | b'}')) {
            return refuse("cannot connect: a prefix has at most 64 bytes, and no braces");
        }
        if self.deadline.is_zero() {
            return refuse("cannot connect: a deadline of zero leaves no time for any answer");
        }
        Ok(())
    }

    fn infos(&self) -> RedisResult<Vec<ConnectionInfo>> {
        match &self.target {
            Target::Urls(urls) => urls.iter().map(|url| url.as_str().into_connection_info()).collect(),
            Target::Client(client) => Ok(vec![client.get_connection_info().clone()]),
            Target::Cluster(_) => Ok(Vec::new()),
        }
    }

    fn source(&self, cluster: bool) -> RedisResult<Source> {
        match (&self.target, &self.sentinel) {
            (Target::Cluster(client), _) => Ok(Source::OwnClient(client.clone())),
            (Target::Urls(_), Some(name)) => Source::sentinel(self.infos()?, name),
            (Target::Urls(_) | Target::Client(_), _) if cluster => {
                Ok(Source::cluster(self.infos()?, self.deadline))
            }
            (Target::Client(client), _) => Ok(Source::One(client.clone())),
            (Target::Urls(_), None) => match self.infos()?.into_iter().next() {
                Some(info) => redis::Client::open(info).map(Source::One),
                None => Err((redis::ErrorKind::InvalidClientConfig, "no URL").into()),
            },
        }
    }

    fn place(&self) -> Result<Place, StoreError> {
        // The URL itself is not shown: it may hold a password.
        let infos =
            self.infos().map_err(|error| Place::new("the URL that was given").fault("read it", error))?;
        let mut addresses: Vec<_> = infos.iter().map(|info| info.addr().to_string()).collect();
        if self.sentinel.is_none() && !self.cluster {
            addresses.truncate(1);
        }
        let addresses = addresses.join(", ");
        Ok(Place::new(match &self.sentinel {
            Some(name) => format!("`{name}` of the Sentinels {addresses}"),
            None if addresses.is_empty() => "a cluster".to_owned(),
            None => addresses,
        }))
    }
}

/// Shows no URL: it may hold a password.
impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("place", &self.place().ok())
            .field("deadline", &self.deadline)
            .field("replicas", &self.replicas)
            .finish_non_exhaustive()
    }
}

//! How a store is opened.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use tokio::runtime::Handle;

use super::connections::Connections;
use super::inbox::PostgresRecords;
use super::inbox::identity::Identity;
use super::names::Table;
use super::open::Found;
use super::place::Place;
use super::proxied::Proxied;
use super::session::Session;
use super::statements::Statements;
use super::storm::Storm;
use super::sweep::Walk;
use super::target::{Kind, PostgresTarget};
use super::{Inner, PostgresStore, migrate};
use crate::clock::Clock;
use crate::{StoreError, StoreErrorKind};

/// Opens a [`PostgresStore`] with other than the default settings, and makes its table.
///
/// ```no_run
/// # extern crate idem_core as idem;
/// # async fn start() -> Result<(), idem::StoreError> {
/// use std::time::Duration;
/// use idem::PostgresStore;
///
/// let builder = PostgresStore::builder("postgres://billing@db.internal/billing")
///     .schema("idem")
///     .max_connections(16)
///     .timeout(Duration::from_secs(3));
/// builder.migrate().await?; // at start-up, or from wherever your other migrations run
/// let store = builder.open().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a builder opens nothing until `open` is called"]
pub struct PostgresStoreBuilder {
    target: PostgresTarget,
    schema: Option<String>,
    table: String,
    max_connections: usize,
    timeout: Duration,
    relaxed_claims: bool,
    sweeps: bool,
    clock: Clock,
}

impl PostgresStoreBuilder {
    pub(super) fn new(target: PostgresTarget) -> Self {
        Self {
            target,
            schema: None,
            table: "idem_record".to_owned(),
            max_connections: 10,
            timeout: Duration::from_secs(5),
            relaxed_claims: false,
            sweeps: true,
            clock: Clock::wall(),
        }
    }

    /// The schema that the table is in; found by the `search_path` of the connection if not said. Up to 63 ASCII letters, digits and
    /// underscores.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = Some(name.into());
        self
    }

    /// The table's name; `idem_record` if not said. Up to 63 ASCII letters, digits and underscores.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = name.into();
        self
    }

    /// How many connections the store may have at once, at least one; 10 if not said. They are opened when they are needed. More than
    /// the database has cores bring little. Of no effect if the store was given a pool.
    pub fn max_connections(mut self, most: usize) -> Self {
        self.max_connections = most;
        self
    }

    /// How long an operation may take, from the wait for a connection to the answer; 5 s if not said. What is not answered by then is
    /// [`Unavailable`](StoreErrorKind::Unavailable), and whether it was done is unknown. Two tries should fit into a handler's lease.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Lets a claim commit without a wait for the disk, if its handler reruns lapsed messages. Off if not said.
    ///
    /// What it costs: if the server loses power, or is killed, within about half a second (three times its `wal_writer_delay`) after
    /// the claim, the claim is forgotten. Its record is then as it was before, and another delivery of the message may run while the
    /// first still does: what a lapse means, only sooner. The number of tries may fall behind by one. Results wait for the disk in any
    /// case, and so do claims of handlers that say `on_lapse = "park"`, and at-most-once ones.
    pub fn relaxed_claims(mut self) -> Self {
        self.relaxed_claims = true;
        self
    }

    /// Leaves ended records to whoever calls [`sweep`](crate::Store::sweep). If not said, the store looks at some pages of its table
    /// after each 512 grants, and deletes what has ended there.
    pub fn without_sweeping(mut self) -> Self {
        self.sweeps = false;
        self
    }

    /// The clock that renewals are timed by, for tests; the host's wall clock if not said. Records are judged by the server's.
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.clock = clock.into();
        self
    }

    /// The statements that make the table, for those who run migrations themselves.
    ///
    /// # Errors
    /// [`Misconfigured`](StoreErrorKind::Misconfigured): a name cannot be one.
    pub fn print_schema(&self) -> Result<String, StoreError> {
        self.names().map(|table| migrate::schema(&table))
    }

    /// Makes the table if it is not there, or brings it up to date, in one transaction. Programs that do so at once wait for each
    /// other. Needs the permission to create tables in the schema, and, if there is none of the name, to create that.
    ///
    /// # Errors
    /// As [`open`](Self::open). The table is left as it was.
    ///
    /// # Cancellation
    /// The table is left as it was, or is made.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let Settled { options, table, place, .. } = self.settle()?;
        self.in_time(&place, "bring the table up to date", migrate::migrate(&options, &table, &place)).await
    }

    /// Connects, and looks whether the server and the table are fit. Must be called in the tokio runtime (with I/O and time) that the
    /// store's operations are to run in; that runtime must outlive the store's use.
    ///
    /// # Errors
    /// The message names server, database and table, and says what helps; never a password.
    /// - [`Misconfigured`](StoreErrorKind::Misconfigured): a malformed URL, a refused user or password, an unknown database, a missing
    ///   permission, a missing table or an old schema, TLS that one side wants and the other cannot do, a table without its unique
    ///   index, an unlogged table, a server older than 14, no tokio runtime.
    /// - [`ReadOnly`](StoreErrorKind::ReadOnly): a replica, or sessions that only read.
    /// - [`Foreign`](StoreErrorKind::Foreign): the table belongs to something else, or to a newer idem.
    /// - [`Unavailable`](StoreErrorKind::Unavailable): the server cannot be reached, has no connection left, or did not answer in time.
    ///
    /// # Cancellation
    /// Nothing is left behind.
    pub async fn open(&self) -> Result<PostgresStore, StoreError> {
        let Settled { options, table, place, runtime, session, proxied } = self.settle()?;
        let connections = match &self.target.0 {
            Kind::Pool(pool) => Connections::Pool(pool.clone()),
            Kind::Url(_) | Kind::Options(_) => {
                // What is set for a session would stay with the next client of the proxy's.
                let session = Some(session).filter(|_| proxied.is_none());
                Connections::own(options, session, self.max_connections)
            }
        };
        let identity = self.in_time(&place, "open", async {
            let fault = |error| place.fault("open", error);
            let mut lent = connections.lend().await.map_err(fault)?;
            if let Some(proxied) = &proxied {
                proxied.begin(&mut lent).await.map_err(fault)?;
            }
            let found = Found::at(&mut lent, &table).await.map_err(fault)?;
            found.judge_server(&place)?;
            found.judge_table(&place)?;
            let identity = Identity::of(&mut lent).await.map_err(fault)?;
            if proxied.is_some() {
                Proxied::commit(&mut lent).await.map_err(fault)?;
            }
            lent.give_back();
            Ok(identity)
        });
        let identity = identity.await?;
        Ok(PostgresStore(Arc::new(Inner {
            runtime,
            connections,
            proxied,
            statements: Statements::of(&table),
            inbox: PostgresRecords::of(&table, place.clone(), Some(identity)),
            place,
            timeout: self.timeout,
            relaxed_claims: self.relaxed_claims,
            sweeps: self.sweeps,
            walk: Walk::default(),
            storm: Storm::default(),
            clock: self.clock.clone(),
        })))
    }

    async fn in_time<T>(
        &self,
        place: &Place,
        doing: &str,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let late = |_| Err(place.late(doing, self.timeout));
        tokio::time::timeout(self.timeout, work).await.unwrap_or_else(late)
    }

    fn names(&self) -> Result<Table, StoreError> {
        Table::new(self.schema.as_deref(), &self.table)
    }

    fn settle(&self) -> Result<Settled, StoreError> {
        let table = self.names()?;
        let mut options = self.target.options()?;
        if options.get_application_name().is_none() {
            options = options.application_name("idem");
        }
        let place = Place::new(&options, table.quoted());
        let runtime = Handle::try_current().map_err(|cause| {
            let what = "it can only be opened or migrated within a tokio runtime";
            place.error(StoreErrorKind::Misconfigured, what).because(cause)
        })?;
        let session = Session::within(self.timeout);
        let proxied = Proxied::by(&options, &session);
        if proxied.is_some() {
            // Such a proxy refuses connections that say how fractions are to be written. No record has one.
            options = options.extra_float_digits(None);
        }
        Ok(Settled { options: options.disable_statement_logging(), table, place, runtime, session, proxied })
    }
}

/// What was said, found valid.
struct Settled {
    options: PgConnectOptions,
    table: Table,
    place: Place,
    runtime: Handle,
    session: Session,
    proxied: Option<Proxied>,
}

/// Without where it connects to, which may have a password in it.
impl fmt::Debug for PostgresStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStoreBuilder")
            .field("schema", &self.schema)
            .field("table", &self.table)
            .field("max_connections", &self.max_connections)
            .field("timeout", &self.timeout)
            .field("relaxed_claims", &self.relaxed_claims)
            .field("sweeps", &self.sweeps)
            .finish_non_exhaustive()
    }
}

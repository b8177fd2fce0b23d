//! Connections, one for each operation that is under way.
//!
//! sqlx's pool sends one more round trip whenever a connection comes back. An operation here is one statement that commits by
//! itself, so a connection whose statement was heard to its end is clean, and one whose statement was not is closed.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, PgPool, Postgres};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::session::Session;

/// Connections that idled for longer are closed, and those that are older: so that a server that was put in another's place, or
/// behind a name, is found.
const LONGEST_IDLE: Duration = Duration::from_secs(600);
const LONGEST_LIFE: Duration = Duration::from_secs(1_800);

pub(super) enum Connections {
    /// The store's own.
    Own(Box<Own>),
    /// The program's.
    Pool(PgPool),
}

pub(super) struct Own {
    options: PgConnectOptions,
    /// Nothing, where a session is not one connection's.
    session: Option<Session>,
    /// The one used last is used next.
    idle: Mutex<Vec<Idle>>,
    permits: Semaphore,
}

struct Idle {
    connection: PgConnection,
    made: Instant,
    since: Instant,
}

/// A connection for one operation. Unless it is [given back](Lent::give_back), it is closed.
pub(super) struct Lent<'c>(Option<Whose<'c>>);

enum Whose<'c> {
    Own { own: &'c Own, connection: PgConnection, made: Instant, reused: bool, _permit: SemaphorePermit<'c> },
    Pool(PoolConnection<Postgres>),
}

impl Connections {
    pub(super) fn own(options: PgConnectOptions, session: Option<Session>, most: usize) -> Self {
        let permits = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
        Self::Own(Box::new(Own { options, session, idle: Mutex::default(), permits }))
    }

    /// Waits for one that is free, or for its turn to open one.
    pub(super) async fn lend(&self) -> Result<Lent<'_>, sqlx::Error> {
        match self {
            Self::Own(own) => own.lend().await,
            Self::Pool(pool) => Ok(Lent(Some(Whose::Pool(Box::pin(pool.acquire()).await?)))),
        }
    }

    /// Closes those that nobody uses: one of them was found dead.
    pub(super) fn forget_idle(&self) {
        if let Self::Own(own) = self {
            own.idle().clear();
        }
    }
}

impl Own {
    async fn lend(&self) -> Result<Lent<'_>, sqlx::Error> {
        let permit = self.permits.acquire().await.map_err(|_| sqlx::Error::PoolClosed)?;
        if let Some(Idle { connection, made, .. }) = self.newest() {
            return Ok(Lent(Some(Whose::Own { own: self, connection, made, reused: true, _permit: permit })));
        }
        // Boxed, or each operation would carry room for it: connecting takes 20 KB, and is rare.
        let connection = Box::pin(self.connect()).await?;
        let made = Instant::now();
        Ok(Lent(Some(Whose::Own { own: self, connection, made, reused: false, _permit: permit })))
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let mut connection = self.options.connect().await?;
        if let Some(session) = &self.session {
            session.begin(&mut connection).await?;
        }
        Ok(connection)
    }

    fn newest(&self) -> Option<Idle> {
        let mut idle = self.idle();
        idle.retain(|idle| idle.since.elapsed() < LONGEST_IDLE && idle.made.elapsed() < LONGEST_LIFE);
        idle.pop()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent<'_> {
    /// For the next operation.
    pub(super) fn give_back(mut self) {
        match self.0.take() {
            Some(Whose::Own { own, connection, made, .. }) => {
                own.idle().push(Idle { connection, made, since: Instant::now() });
            }
            Some(Whose::Pool(connection)) => drop(connection),
            None => {}
        }
    }

    /// Whether it may have died since it was used last.
    pub(super) fn may_be_stale(&self) -> bool {
        matches!(self.0, Some(Whose::Own { reused: true, .. } | Whose::Pool(_)))
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // Out of sqlx's pool, or the pool would wait for an answer to what was given up.
        if let Some(Whose::Pool(connection)) = self.0.take() {
            drop(connection.detach());
        }
    }
}

const TAKEN: &str = "a connection is given back once";

impl Deref for Lent<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self.0.as_ref().expect(TAKEN) {
            Whose::Own { connection, .. } => connection,
            Whose::Pool(connection) => connection,
        }
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self.0.as_mut().expect(TAKEN) {
            Whose::Own { connection, .. } => connection,
            Whose::Pool(connection) => connection,
        }
    }
}

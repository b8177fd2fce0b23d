//! One statement: sent, sent again where that is safe, and answered within its time.

use std::future::Future;
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, SqlStr};

use super::Inner;
use super::connections::Lent;
use super::fault::{Next, may_be_done, next};
use super::row::Damaged;
use crate::{StoreError, StoreErrorKind, Token};

/// A statement with its arguments.
pub(super) type Ask = Query<'static, Postgres, PgArguments>;

/// What is heard of a statement.
pub(super) trait Heard: Sized {
    fn hear(
        ask: Ask,
        connection: &mut PgConnection,
    ) -> impl Future<Output = Result<Self, sqlx::Error>> + Send;
}

/// Its rows.
impl Heard for Vec<PgRow> {
    fn hear(
        ask: Ask,
        connection: &mut PgConnection,
    ) -> impl Future<Output = Result<Self, sqlx::Error>> + Send {
        ask.fetch_all(connection)
    }
}

/// How many it wrote.
impl Heard for u64 {
    async fn hear(ask: Ask, connection: &mut PgConnection) -> Result<Self, sqlx::Error> {
        ask.execute(connection).await.map(|done| done.rows_affected())
    }
}

/// Whether a statement may be done twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    Repeatable,
    /// It has no token in it: once it may have been done, it is not sent again.
    Once,
}

/// How often a statement is sent when others are in the way. Under load one in some thousands meets another; twice in a row is rare.
const TRIES: u32 = 8;

impl Inner {
    /// Runs `operation` within the store's timeout. Given up, its connection is closed.
    pub(super) async fn within<T>(
        &self,
        doing: &str,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let limit = self.timeout;
        tokio::time::timeout(limit, operation).await.unwrap_or_else(|_| Err(self.place.late(doing, limit)))
    }

    /// Sends a statement until `read` finds an answer in its rows. `None` is no answer: a session that committed after the
    /// statement's snapshot and before its write left neither something to see nor something to change.
    pub(super) fn ask<T>(
        &self,
        doing: &str,
        statement: &SqlStr,
        bind: impl Fn(Ask) -> Ask,
        read: impl Fn(&[PgRow]) -> Result<Option<T>, Damaged>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.send(Sending::Repeatable, doing, statement, bind, move |rows: &Vec<PgRow>| read(rows))
    }

    /// Sends a statement that answers nothing. How many rows it wrote.
    pub(super) fn tell(
        &self,
        doing: &str,
        statement: &SqlStr,
        bind: impl Fn(Ask) -> Ask,
    ) -> impl Future<Output = Result<u64, StoreError>> {
        self.send(Sending::Repeatable, doing, statement, bind, |written: &u64| Ok(Some(*written)))
    }

    /// Sends a statement until `read` finds an answer in what is heard of it.
    pub(super) async fn send<T, H: Heard>(
        &self,
        sending: Sending,
        doing: &str,
        statement: &SqlStr,
        bind: impl Fn(Ask) -> Ask,
        read: impl Fn(&H) -> Result<Option<T>, Damaged>,
    ) -> Result<T, StoreError> {
        for tries in 1..=TRIES {
            let mut lent = self.connections.lend().await.map_err(|error| self.place.trouble(doing, error))?;
            let ask = bind(sqlx::query(statement.clone()));
            let fetched = match &self.proxied {
                None => H::hear(ask, &mut lent).await,
                Some(proxied) => Box::pin(proxied.hear(&mut lent, ask)).await,
            };
            match fetched {
                Ok(heard) => {
                    lent.give_back();
                    match read(&heard) {
                        Ok(Some(answer)) => return Ok(answer),
                        Ok(None) => {}
                        Err(damaged) => return Err(self.place.unreadable(None, damaged)),
                    }
                }
                Err(error) => match next(&error, lent.may_be_stale()) {
                    Next::Again if tries < TRIES => {
                        self.take_back(lent);
                        tokio::time::sleep(jitter(tries)).await;
                    }
                    Next::Elsewhere if tries < TRIES => {
                        drop(lent);
                        self.connections.forget_idle();
                        if sending == Sending::Once && may_be_done(&error) {
                            return Err(self.place.trouble(doing, error));
                        }
                    }
                    Next::Again | Next::Stop => {
                        self.take_back(lent);
                        return Err(self.place.trouble(doing, error));
                    }
                    Next::Elsewhere | Next::Close => return Err(self.place.trouble(doing, error)),
                },
            }
        }
        let what = format_args!("cannot {doing}: other sessions were faster each of {TRIES} times");
        Err(self.place.error(StoreErrorKind::Unavailable, what))
    }

    /// Takes a connection back after an error that does not matter to it, unless a transaction may be open there.
    fn take_back(&self, lent: Lent<'_>) {
        if self.proxied.is_none() {
            lent.give_back();
        }
    }
}

/// A pause after which two sessions that met will not meet again, up to some milliseconds.
fn jitter(tries: u32) -> Duration {
    let random = u32::from(Token::fresh().as_bytes()[0]);
    Duration::from_micros(u64::from(random * 4 * tries))
}

//! Which database.

use std::fmt;
use std::str::FromStr;

use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;

use crate::{StoreError, StoreErrorKind};

/// Where a [`PostgresStore`](crate::PostgresStore) connects to: made from a URL (`postgres://user:password@host:port/database`), from sqlx's
/// `PgConnectOptions`, or from a `PgPool` that the program has anyway. These are types of sqlx 0.9.
///
/// From a URL or from options, the store keeps connections of its own, that nobody else can use up. sqlx's pool asks the server
/// whether it is still there each time a connection comes back, and hands it out after that, so it has more to wait for.
#[derive(Clone)]
pub struct PostgresTarget(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    Url(String),
    Options(Box<PgConnectOptions>),
    Pool(PgPool),
}

impl From<&str> for PostgresTarget {
    fn from(url: &str) -> Self {
        Self(Kind::Url(url.to_owned()))
    }
}

impl From<String> for PostgresTarget {
    fn from(url: String) -> Self {
        Self(Kind::Url(url))
    }
}

impl From<PgConnectOptions> for PostgresTarget {
    fn from(options: PgConnectOptions) -> Self {
        Self(Kind::Options(Box::new(options)))
    }
}

impl From<PgPool> for PostgresTarget {
    fn from(pool: PgPool) -> Self {
        Self(Kind::Pool(pool))
    }
}

/// Without where it is, which may have a password in it.
impl fmt::Debug for PostgresTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Url(_) => "PostgresTarget::Url",
            Kind::Options(_) => "PostgresTarget::Options",
            Kind::Pool(_) => "PostgresTarget::Pool",
        })
    }
}

impl PostgresTarget {
    /// How to connect.
    pub(super) fn options(&self) -> Result<PgConnectOptions, StoreError> {
        match &self.0 {
            // What does not parse is not shown: it has a password in it.
            Kind::Url(url) if !url.starts_with("postgres://") && !url.starts_with("postgresql://") => {
                Err(malformed("it does not begin with `postgres://`"))
            }
            Kind::Url(url) => PgConnectOptions::from_str(url).map_err(|error| match error {
                sqlx::Error::Configuration(cause) => malformed(&cause.to_string()),
                _ => malformed("it cannot be read"),
            }),
            Kind::Options(options) => Ok(PgConnectOptions::clone(options)),
            Kind::Pool(pool) => Ok(PgConnectOptions::clone(&pool.connect_options())),
        }
    }
}

fn malformed(why: &str) -> StoreError {
    let message = format!(
        "Postgres store: the URL of the database is malformed: {why}; it has the form `postgres://user:password@host:port/database`, \
         with what is special in a URL percent-encoded"
    );
    StoreError::new(StoreErrorKind::Misconfigured, message)
}

//! What is run.

use std::time::Duration;

use idem::{Error, Handler, Idempotent, Key, Outcome, PostgresStore, idempotent, key};
use serde::{Deserialize, Serialize};
use sqlx::{Postgres, Transaction};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ChargeError {
    /// Worth remembering.
    Declined(String),
    Other(String),
    #[serde(skip)]
    Idem(idem::Error),
}

impl ChargeError {
    fn is_final(&self) -> bool {
        matches!(self, Self::Declined(_))
    }

    /// What idem said.
    pub(crate) fn idem(self) -> idem::Error {
        match self {
            Self::Idem(error) => error,
            other => panic!("not an error of idem's: {other:?}"),
        }
    }
}

impl From<idem::Error> for ChargeError {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error)
    }
}

impl From<sqlx::Error> for ChargeError {
    fn from(error: sqlx::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// What a body comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    /// With an error after its row was written.
    Badly,
    /// With one that is worth remembering.
    Finally,
}

pub(crate) type Tx<'t> = &'t mut Transaction<'static, Postgres>;

async fn write(tx: Tx<'_>, message: &str) -> Result<(), sqlx::Error> {
    let insert = sqlx::query("insert into charge (message) values ($1)").bind(message.to_owned());
    insert.execute(&mut **tx).await.map(drop)
}

#[idempotent(key = "msg:<message>", tx = tx, final_error = ChargeError::is_final)]
pub(crate) async fn charge(
    message: &str,
    end: End,
    tx: Tx<'_>,
    #[key] key: &Key,
) -> Result<Outcome<String>, ChargeError> {
    write(tx, message).await?;
    match end {
        End::Well => Ok(format!("receipt of {key}").into()),
        End::Badly => Err(ChargeError::Other("no".to_owned())),
        End::Finally => Err(ChargeError::Declined("never".to_owned())),
    }
}

/// Has nothing to replay.
#[idempotent(key = "msg:<message>", tx = tx)]
pub(crate) async fn note(message: &str, end: End, tx: Tx<'_>) -> Result<(), ChargeError> {
    write(tx, message).await?;
    if end == End::Well { Ok(()) } else { Err(ChargeError::Other("no".to_owned())) }
}

#[idempotent(key = "msg:<message>", tx = tx, on_duplicate = wait("20s"))]
pub(crate) async fn patient(message: &str, tx: Tx<'_>) -> Result<Outcome<String>, ChargeError> {
    write(tx, message).await?;
    Ok(format!("receipt of {message}").into())
}

#[idempotent(key = "msg:<message>", tx = tx, on_duplicate = wait("100ms"))]
pub(crate) async fn hasty(message: &str, tx: Tx<'_>) -> Result<(), ChargeError> {
    write(tx, message).await?;
    Ok(())
}

#[idempotent(key = "msg:<message>", tx = tx, store = store, payload(cents))]
pub(crate) async fn elsewhere(
    message: &str,
    cents: u32,
    tx: Tx<'_>,
    store: &PostgresStore,
) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    Ok(cents)
}

/// A statement fails, and the body does not say so.
#[idempotent(key = "msg:<message>", tx = tx)]
pub(crate) async fn careless(message: &str, tx: Tx<'_>) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    let _ = sqlx::query("select 1 / 0").execute(&mut **tx).await;
    Ok(1)
}

/// The scope of a handler that had no transaction before, and had another name.
#[idempotent(key = "msg:<message>", tx = tx, store = store, scope = "orders.new", scope_was = ["orders.old"])]
pub(crate) async fn renamed(
    message: &str,
    end: End,
    tx: Tx<'_>,
    store: &PostgresStore,
) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    if end == End::Well { Ok(2) } else { Err(ChargeError::Other("no".to_owned())) }
}

/// What `renamed` was: a program that has both is refused.
pub(crate) async fn with_a_lease(message: &str, store: &PostgresStore) -> Result<u32, Error> {
    let former = Idempotent::new(store, Handler::new("orders.old").lease(Duration::from_secs(1)));
    let done = former.run(&key!("msg:<message>")?, || async { Ok::<_, Error>(1) }).await?;
    Ok(done.into_value())
}

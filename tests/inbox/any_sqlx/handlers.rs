//! What is run, in a database that sqlx knows.

use std::time::Duration;

use idem::{Error, Handler, Idempotent, Key, Outcome, idempotent, key};
use sqlx::Transaction;

use super::scene::{Db, NamedStore};
use crate::ends::{ChargeError, End};

pub(crate) type Tx<'t> = &'t mut Transaction<'static, Db>;

pub(crate) async fn write(tx: &mut Transaction<'_, Db>, message: &str) -> Result<(), sqlx::Error> {
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
    store: &NamedStore,
) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    Ok(cents)
}

/// The scope of a handler that had no transaction before, and had another name.
#[idempotent(key = "msg:<message>", tx = tx, store = store, scope = "orders.new", scope_was = ["orders.old"])]
pub(crate) async fn renamed(
    message: &str,
    end: End,
    tx: Tx<'_>,
    store: &NamedStore,
) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    if end == End::Well { Ok(2) } else { Err(ChargeError::Other("no".to_owned())) }
}

/// What `renamed` was: a program that has both is refused.
pub(crate) async fn with_a_lease(message: &str, store: &NamedStore) -> Result<u32, Error> {
    let former = Idempotent::new(store, Handler::new("orders.old").lease(Duration::from_secs(1)));
    let done = former.run(&key!("msg:<message>")?, || async { Ok::<_, Error>(1) }).await?;
    Ok(done.into_value())
}

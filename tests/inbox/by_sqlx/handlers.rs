//! What is run.

use idem::{Key, Outcome, SqliteStore, idempotent};
use sqlx::{Sqlite, Transaction};

use crate::files::{ChargeError, End};

pub(crate) type Tx<'t> = &'t mut Transaction<'static, Sqlite>;

pub(crate) async fn write(tx: &mut Transaction<'_, Sqlite>, message: &str) -> Result<(), sqlx::Error> {
    let insert = sqlx::query("insert into charge (message) values (?1)").bind(message);
    insert.execute(&mut **tx).await.map(drop)
}

#[idempotent(key = "msg:<message>", tx = tx, final_error = ChargeError::is_final)]
pub(crate) async fn charge(
    message: &str,
    end: End,
    tx: &mut Transaction<'_, Sqlite>,
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

#[idempotent(key = "msg:<message>", tx = tx, on_duplicate = wait("60ms"))]
pub(crate) async fn hasty(message: &str, tx: Tx<'_>) -> Result<(), ChargeError> {
    write(tx, message).await?;
    Ok(())
}

#[idempotent(key = "msg:<message>", tx = tx, store = store, payload(cents))]
pub(crate) async fn elsewhere(
    message: &str,
    cents: u32,
    tx: Tx<'_>,
    store: &SqliteStore,
) -> Result<u32, ChargeError> {
    write(tx, message).await?;
    Ok(cents)
}

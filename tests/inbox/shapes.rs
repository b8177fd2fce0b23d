//! What a handler with `tx` may look like. Each compiles without a warning.
#![deny(warnings)]
#![allow(
    clippy::manual_async_fn,
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    reason = "handlers as people write them"
)]

use async_trait::async_trait;
use futures::executor::block_on;
use idem::{Key, Outcome, idempotent};
use rusqlite::{Savepoint, Transaction};

use crate::book::{Book, Error, Shelf};

struct Message {
    pub id: String,
    pub amount: u64,
}

fn message(id: &str) -> Message {
    Message { id: id.to_owned(), amount: 7 }
}

/// Hands a transaction on, so that the body has given it away.
async fn moved(tx: &mut Book, row: &str) -> Result<(), Error> {
    tx.write(row).await
}

#[idempotent(key = "msg:<message.id>", tx = tx)]
async fn plain(message: Message, tx: &mut Book) -> Result<u64, Error> {
    if message.amount == 0 {
        return Err(Error::Other);
    }
    moved(tx, &message.id).await?;
    tx.write("again").await?;
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>", tx = &mut tx, ttl = "1d", keep = "30d", require = "transactional")]
async fn first_argument<'t>(
    tx: &'t mut Book,
    message: &Message,
    #[key] key: &Key,
) -> Result<Outcome<String>, Error> {
    moved(tx, key.as_str()).await?;
    Ok(key.to_string().into())
}

#[idempotent(key = "msg:<message.id>", tx = tx)]
async fn bound_mut(message: Message, mut tx: &mut Book) -> Result<(), Error> {
    let other = &mut *tx;
    other.write(message.id).await?;
    tx = other;
    tx.write("b").await
}

#[idempotent(key = "msg:<message.id>", tx = tx)]
async fn not_used(message: &Message, tx: &mut Book) -> Result<(), Error> {
    let _ = message;
    Ok(())
}

struct Unit<'t> {
    tx: &'t mut Book,
    audit: Vec<String>,
}

#[idempotent(key = "msg:<message.id>", tx = unit.tx)]
async fn field_of_a_reference(message: &Message, unit: &mut Unit<'_>) -> Result<u64, Error> {
    unit.audit.push(message.id.clone());
    unit.tx.write("field").await?;
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>", tx = unit.tx)]
async fn field_of_a_value(message: &Message, mut unit: Unit<'_>) -> Result<u64, Error> {
    unit.audit.push(message.id.clone());
    unit.tx.write("field").await?;
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>", tx = unit.0)]
async fn field_by_number(message: &Message, unit: &mut (Book, u8)) -> Result<u64, Error> {
    unit.0.write("field").await?;
    unit.1 += 1;
    Ok(message.amount)
}

impl Unit<'_> {
    #[idempotent(key = "msg:<message.id>", tx = self.tx, scope = "unit.method")]
    async fn method(&mut self, message: Message) -> Result<u64, Error> {
        self.audit.push(message.id);
        self.tx.write("method").await?;
        Ok(message.amount)
    }
}

#[async_trait]
trait Handles {
    async fn handle(&self, message: Message, tx: &mut Book) -> Result<u64, Error>;
    async fn handle_own(&mut self, message: Message) -> Result<u64, Error>;
}

#[async_trait]
impl Handles for Unit<'_> {
    #[idempotent(key = "msg:<message.id>", tx = tx, scope = "unit.handle")]
    async fn handle(&self, message: Message, tx: &mut Book) -> Result<u64, Error> {
        moved(tx, "trait").await?;
        Ok(message.amount)
    }

    #[idempotent(key = "msg:<message.id>", tx = self.tx, scope = "unit.handle_own")]
    async fn handle_own(&mut self, message: Message) -> Result<u64, Error> {
        self.audit.push(message.id);
        self.tx.write("own").await?;
        Ok(message.amount)
    }
}

#[idempotent(key = "msg:<message.id>", tx = tx)]
fn by_hand<'f>(
    message: &'f Message,
    tx: &'f mut Book,
) -> impl Future<Output = Result<u64, Error>> + Send + 'f {
    async move {
        moved(tx, "by hand").await?;
        Ok(message.amount)
    }
}

#[idempotent(key = "msg:<message.id>", tx = tx, scope = "generic")]
async fn generic<M: Into<String> + Clone + Send + Sync>(
    message: Message,
    row: M,
    tx: &mut Book,
) -> Result<u64, Error> {
    tx.write(row).await?;
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>", tx = tx)]
fn sync(message: &Message, tx: &Transaction<'_>) -> Result<u64, Error> {
    tx.execute("delete from idem_record where 0", [])?;
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>", tx = tx, final_error = |error| matches!(error, SyncError::Final(_)))]
fn sync_mut(message: &Message, tx: &mut Transaction<'_>) -> Result<u64, SyncError> {
    if message.amount == 0 {
        return Err(SyncError::Final(0));
    }
    fn hand_on(tx: &mut Transaction<'_>) -> Result<(), rusqlite::Error> {
        tx.savepoint()?.commit()
    }
    hand_on(tx)?;
    let inner = tx.savepoint()?;
    inner.commit()?;
    Ok(message.amount)
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum SyncError {
    Final(u8),
    Other,
}

impl From<idem::Error> for SyncError {
    fn from(_: idem::Error) -> Self {
        Self::Other
    }
}

impl From<rusqlite::Error> for SyncError {
    fn from(_: rusqlite::Error) -> Self {
        Self::Other
    }
}

#[idempotent(key = "msg:<message.id>", tx = point)]
fn in_a_savepoint(message: &Message, point: &Savepoint<'_>) -> Result<u64, Error> {
    point.execute("delete from idem_record where 0", [])?;
    Ok(message.amount)
}

struct Files<'c> {
    tx: Transaction<'c>,
}

impl Files<'_> {
    #[idempotent(key = "msg:<message.id>", tx = self.tx, scope = "files.method")]
    fn method(&self, message: &Message) -> Result<u64, Error> {
        self.tx.execute("delete from idem_record where 0", [])?;
        Ok(message.amount)
    }

    #[idempotent(key = "msg:<message.id>", tx = self.tx, scope = "files.method_mut")]
    fn method_mut(&mut self, message: &Message) -> Result<u64, Error> {
        self.tx.savepoint()?.commit()?;
        Ok(message.amount)
    }
}

#[track_caller]
#[idempotent(key = "msg:<message.id>", tx = tx)]
fn tracked(message: &Message, tx: &mut Transaction<'_>, #[key] key: &Key) -> Result<(u32, String), Error> {
    tx.savepoint()?.commit()?;
    let _ = message;
    Ok((std::panic::Location::caller().line(), key.to_string()))
}

fn is_send<F: Future + Send>(future: F) -> F {
    future
}

#[test]
fn the_body_of_an_async_handler_has_its_transaction_and_gives_it_back() {
    let shelf = Shelf::default();
    for _delivery in 0..2 {
        let mut tx = shelf.begin();
        assert_eq!(block_on(is_send(plain(message("a"), &mut tx))).unwrap(), 7);
        block_on(is_send(first_argument(&mut tx, &message("b")))).unwrap();
        block_on(is_send(bound_mut(message("c"), &mut tx))).unwrap();
        block_on(is_send(not_used(&message("d"), &mut tx))).unwrap();
        block_on(is_send(by_hand(&message("e"), &mut tx))).unwrap();
        block_on(is_send(generic(message("f"), "generic", &mut tx))).unwrap();
        tx.commit();
    }
    assert_eq!(shelf.rows(), ["a", "again", "msg:b", "c", "b", "by hand", "generic"]);
}

#[test]
fn a_transaction_may_be_a_field_of_an_argument_or_of_the_receiver() {
    let shelf = Shelf::default();
    for _delivery in 0..2 {
        let mut tx = shelf.begin();
        let mut unit = Unit { tx: &mut tx, audit: Vec::new() };
        block_on(is_send(field_of_a_reference(&message("a"), &mut unit))).unwrap();
        block_on(is_send(unit.method(message("b")))).unwrap();
        block_on(is_send(unit.handle_own(message("c")))).unwrap();
        block_on(is_send(field_of_a_value(&message("d"), unit))).unwrap();
        let mut other = shelf.begin();
        let unit = Unit { tx: &mut other, audit: Vec::new() };
        block_on(is_send(unit.handle(message("e"), &mut tx))).unwrap();
        let mut pair = (tx, 0);
        block_on(is_send(field_by_number(&message("f"), &mut pair))).unwrap();
        pair.0.commit();
    }
    assert_eq!(shelf.rows(), ["field", "method", "own", "field", "trait", "field"]);
}

#[test]
fn a_plain_function_keeps_its_shape_and_its_caller() {
    let mut connection = rusqlite::Connection::open_in_memory().unwrap();
    idem::SqliteStore::ensure_schema(&connection).unwrap();
    let mut tx = connection.transaction().unwrap();
    sync(&message("a"), &tx).unwrap();
    sync_mut(&message("a"), &mut tx).unwrap();
    let refused = Message { id: "0".to_owned(), amount: 0 };
    assert!(matches!(sync_mut(&refused, &mut tx), Err(SyncError::Final(0))));
    let first = tracked(&message("a"), &mut tx).unwrap();
    assert_eq!(first, (line!() - 1, "msg:a".to_owned()));
    assert_eq!(tracked(&message("a"), &mut tx).unwrap(), first);
    in_a_savepoint(&message("a"), &tx.savepoint().unwrap()).unwrap();
    let mut files = Files { tx };
    assert_eq!(files.method(&message("a")).unwrap(), 7);
    assert_eq!(files.method_mut(&message("a")).unwrap(), 7);
}

/// The future holds the body once, and what the driver needs before and after it in one place.
#[test]
fn the_future_does_not_grow_by_a_copy_of_the_body() {
    async fn yields() {
        std::future::ready(()).await;
    }
    #[idempotent(key = "msg:<message.id>", tx = tx)]
    async fn large(message: &Message, tx: &mut Book) -> Result<u64, Error> {
        let bytes = [7_u8; 4096];
        yields().await;
        tx.write(message.id.clone()).await?;
        Ok(u64::from(bytes[message.id.len()]))
    }
    let mut tx = Shelf::default().begin();
    let size = size_of_val(&large(&message("a"), &mut tx));
    assert!(size < 4096 + 1536, "{size} bytes");
}

//! One message, consumed in three ways. The last is the one to copy.

use std::error::Error;
use std::path::Path;

use idem::{Clock, SqliteStore, idempotent};
use rusqlite::{Connection, Transaction};

use crate::kill::Moment;
use crate::shop;

pub type BoxError = Box<dyn Error + Send + Sync>;

/// What the example is told when a worker gets to a moment.
pub type At<'a> = &'a dyn Fn(Moment);

pub struct Transfer {
    pub id: &'static str,
    pub cents: i64,
}

pub const MESSAGE: Transfer = Transfer { id: "8f14", cents: 1200 };

#[derive(Clone, Copy)]
pub enum Way {
    None,
    Elsewhere,
    Inbox,
}

impl Way {
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Elsewhere => "in a file of its own",
            Self::Inbox => "in the transaction",
        }
    }
}

fn write(transfer: &Transfer, tx: &Transaction<'_>) -> Result<(), BoxError> {
    tx.execute("insert into booking (cents) values (?1)", [transfer.cents])?;
    tx.execute("update account set balance = balance + ?1", [transfer.cents])?;
    Ok(())
}

/// No record: whatever is delivered is booked.
fn book(transfer: &Transfer, connection: &mut Connection, at: At<'_>) -> Result<(), BoxError> {
    let tx = connection.transaction()?;
    write(transfer, &tx)?;
    at(Moment::BeforeTheCommit);
    tx.commit()?;
    at(Moment::AfterTheCommit);
    Ok(())
}

/// The record commits after the rows, in another file.
#[idempotent(key = "msg:<transfer.id>", store = store)]
fn book_with_a_lease(
    transfer: &Transfer,
    connection: &mut Connection,
    store: &SqliteStore,
    at: At<'_>,
) -> Result<(), BoxError> {
    book(transfer, connection, at)
}

/// The record commits with the rows.
#[idempotent(key = "msg:<transfer.id>", tx = tx)]
fn book_once(transfer: &Transfer, tx: &Transaction<'_>) -> Result<(), BoxError> {
    write(transfer, tx)
}

/// What a worker does with the message, up to its acknowledgement.
pub fn consume(way: Way, folder: &Path, clock: Clock, at: At<'_>) -> Result<(), BoxError> {
    let mut connection = shop::open(folder)?;
    match way {
        Way::None => book(&MESSAGE, &mut connection, at),
        Way::Elsewhere => {
            let store = SqliteStore::builder(folder.join("idem.db")).clock(clock).open()?;
            book_with_a_lease(&MESSAGE, &mut connection, &store, at)
        }
        Way::Inbox => {
            let tx = connection.transaction()?;
            book_once(&MESSAGE, &tx)?;
            at(Moment::BeforeTheCommit);
            tx.commit()?;
            at(Moment::AfterTheCommit);
            Ok(())
        }
    }
}

pub const REMARKS: &str = "
Without a record, the message is booked as often as it comes.
A record that commits by itself leaves a gap: the rows are there, and nobody has written that they are.
In one transaction there is no gap. What is not a row, such as a mail, would still be sent twice.
";

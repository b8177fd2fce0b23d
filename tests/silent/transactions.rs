//! Transactions that no record has to be written in.

use idem::{Key, idempotent};

use super::{Keyed, same_key};

/// A bank's, read where it lies.
struct Transaction<'a> {
    id: &'a str,
}

#[idempotent(store = idem::MemoryStore::new(), key = "txn:<transaction.id>")]
fn a_message_that_borrows(transaction: &Transaction<'_>, #[key] key: &Key) -> Keyed {
    let Transaction { id: _ } = transaction;
    Ok(key.as_str().to_owned())
}

mod bank {
    pub(super) struct Transaction(pub(super) String);
}

#[idempotent(store = idem::MemoryStore::new(), key = "order:<order>")]
fn one_of_the_business(order: u64, transaction: &bank::Transaction, #[key] key: &Key) -> Keyed {
    assert!(!transaction.0.is_empty(), "it has an account");
    Ok(key.as_str().to_owned())
}

#[idempotent(store = idem::MemoryStore::new(), key = "order:<order>")]
fn one_that_the_body_ends(order: u64, tx: rusqlite::Transaction<'_>, #[key] key: &Key) -> Keyed {
    tx.commit()
        .map_err(|_| idem::Error::from(idem::StoreError::new(idem::StoreErrorKind::Unavailable, "no")))?;
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<order>")]
fn nothing_is_recorded(order: u64, _tx: &rusqlite::Transaction<'_>, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = idem::MemoryStore::new(), key = "order:<order>", mode = "at_most_once")]
fn a_loss_is_asked_for(order: u64, _tx: &rusqlite::Transaction<'_>, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(
    store = idem::MemoryStore::new(),
    key = "order:<order>",
    allow(tx_left_out, reason = "it is only read from")
)]
fn a_reason_is_given(order: u64, _tx: &rusqlite::Transaction<'_>, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[test]
fn transactions_that_no_record_belongs_in_pass() {
    same_key(|| a_message_that_borrows(&Transaction { id: "a" }), "txn:a");
    same_key(|| one_of_the_business(7, &bank::Transaction("alice".to_owned())), "order:7");
    let connection = || rusqlite::Connection::open_in_memory().expect("a database");
    same_key(|| one_that_the_body_ends(7, connection().transaction().expect("it begins")), "order:7");
    same_key(|| nothing_is_recorded(7, &connection().transaction().expect("it begins")), "order:7");
    same_key(|| a_loss_is_asked_for(7, &connection().transaction().expect("it begins")), "order:7");
    same_key(|| a_reason_is_given(7, &connection().transaction().expect("it begins")), "order:7");
}

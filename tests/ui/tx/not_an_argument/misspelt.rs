use idem::idempotent;
use rusqlite::Transaction;

#[idempotent(key = "order:<order>", tx = tx)]
fn charge(order: u64, transaction: &Transaction<'_>) -> Result<u64, idem::Error> {
    let _ = transaction;
    Ok(order)
}

fn main() {
    let _ = charge;
}

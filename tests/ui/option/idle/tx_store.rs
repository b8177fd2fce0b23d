use idem::{Key, idempotent};
use rusqlite::Transaction;

#[idempotent(key = "order:<order>", tx = tx, store = none)]
fn charge(order: u64, tx: &Transaction<'_>, #[key] key: &Key) -> Result<u64, idem::Error> {
    let _ = (tx, key);
    Ok(order)
}

fn main() {
    let _ = charge;
}

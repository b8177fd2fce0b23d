use idem::{MemoryStore, idempotent};
use rusqlite::Transaction;

#[idempotent(key = "order:<order>", tx = tx, store = store)]
fn charge(order: u64, tx: &Transaction<'_>, store: &MemoryStore) -> Result<u64, idem::Error> {
    let _ = tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

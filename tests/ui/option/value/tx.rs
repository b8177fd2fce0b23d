use idem::idempotent;
use rusqlite::Transaction;

#[idempotent(key = "order:<order>", tx)]
fn charge(order: u64, tx: &Transaction<'_>) -> Result<u64, idem::Error> {
    let _ = tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

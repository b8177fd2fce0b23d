use idem::idempotent;
use rusqlite::Transaction;

#[idempotent(key = "order:<order>", tx = tx)]
async fn charge(order: u64, tx: &mut Transaction<'_>) -> Result<u64, idem::Error> {
    let _ = tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

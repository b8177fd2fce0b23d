use idem::idempotent;
use sqlx::{Sqlite, Transaction};

#[idempotent(key = "order:<order>", tx = tx)]
async fn charge(order: u64, mut tx: Transaction<'_, Sqlite>) -> Result<u64, idem::Error> {
    let _ = &mut tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

use idem::idempotent;
use sqlx::{Sqlite, Transaction};

#[idempotent(key = "order:<order>", tx = tx)]
async fn charge<'t>(order: u64, tx: &'t Transaction<'_, Sqlite>) -> Result<u64, idem::Error> {
    let _ = tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

use idem::idempotent;
use sqlx::SqliteConnection;

#[idempotent(key = "order:<order>", tx = tx)]
async fn charge(order: u64, tx: &mut SqliteConnection) -> Result<u64, idem::Error> {
    let _ = tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

use idem::idempotent;
use rusqlite::Connection;

#[idempotent(key = "order:<order>", tx = tx)]
fn charge(order: u64, tx: &Connection) -> Result<u64, idem::Error> {
    let _ = tx;
    Ok(order)
}

fn main() {
    let _ = charge;
}

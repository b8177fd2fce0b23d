use idem::idempotent;
use rusqlite::Savepoint;

#[idempotent(key = "order:<order>")]
fn charge(order: u64, _: &mut Savepoint<'_>) -> Result<u64, idem::Error> {
    Ok(order)
}

fn main() {
    let _ = charge;
}

use idem::{Attempt, idempotent};
use rusqlite::Transaction;

#[idempotent(key = "order:<order>", tx = tx)]
fn charge(order: u64, tx: &Transaction<'_>, #[attempt] attempt: &Attempt) -> Result<u64, idem::Error> {
    println!("attempt {} of {order} in {tx:?}", attempt.tries());
    Ok(order)
}

fn main() {
    let _ = charge;
}

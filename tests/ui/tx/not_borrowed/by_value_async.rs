use idem::idempotent;

struct Transaction;

#[idempotent(key = "order:<order>", tx = tx)]
async fn charge(order: u64, mut tx: Transaction) -> Result<u64, idem::Error> {
    let _ = &mut tx;
    Ok(order)
}

fn main() {
    let _ = charge(1, Transaction);
}

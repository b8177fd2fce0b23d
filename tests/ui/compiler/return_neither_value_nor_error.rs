use idem::idempotent;

struct Receipt(u64);

struct Declined;

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Result<Receipt, Declined> {
    Ok(Receipt(order))
}

fn main() {
    let _ = charge(1);
}

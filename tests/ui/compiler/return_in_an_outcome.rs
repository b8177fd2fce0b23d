use idem::idempotent;

struct Receipt(u64);

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Result<idem::Outcome<Receipt>, idem::Error> {
    Ok(Receipt(order).into())
}

fn main() {
    let _ = charge(1);
}

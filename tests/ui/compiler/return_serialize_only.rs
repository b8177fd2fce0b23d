use idem::idempotent;

#[derive(serde::Serialize)]
struct Receipt(u64);

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Result<Receipt, idem::Error> {
    Ok(Receipt(order))
}

fn main() {
    let _ = charge(1);
}

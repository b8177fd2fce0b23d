use idem::idempotent;

#[idempotent(key = "order:<customer><order>")]
async fn charge(customer: u64, order: u64) -> Result<u64, idem::Error> {
    Ok(customer + order)
}

fn main() {
    let _ = charge(1, 23);
}

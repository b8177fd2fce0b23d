use idem::idempotent;

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Result<u64, String> {
    Ok(order)
}

fn main() {
    let _ = charge(1);
}

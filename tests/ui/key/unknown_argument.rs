use idem::idempotent;

#[idempotent(key = "order:<order_id>")]
async fn charge(order: u32) -> Result<u32, idem::Error> {
    Ok(order)
}

fn main() {
    let _ = charge(1); // still known: exactly one error above
}

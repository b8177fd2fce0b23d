use idem::idempotent;

#[idempotent(key = "order:<order_id>", ttl = "7", leese = "3s")]
async fn charge(order: u32) -> Result<u32, idem::Error> {
    Ok(order)
}

fn main() {
    let _ = charge(1);
}

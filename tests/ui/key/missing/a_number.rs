use idem::idempotent;

#[idempotent(ttl = "1d")]
async fn refund(order_id: u64) -> Result<u64, idem::Error> {
    Ok(order_id)
}

fn main() {
    let _ = refund(1);
}

use idem::idempotent;

#[idempotent(key = "order:<order.to_string()>")]
async fn charge(order: u64) -> Result<u64, idem::Error> {
    Ok(order)
}

fn main() {}

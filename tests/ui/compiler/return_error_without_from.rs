use idem::idempotent;

#[derive(Debug)]
struct Declined;

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Result<u64, Declined> {
    Ok(order)
}

fn main() {
    let _ = charge(1);
}

use idem::{Key, idempotent};

#[idempotent(key = "order:<order>", store = none, payload(amount))]
async fn charge(order: u64, amount: u64, #[key] key: &Key) -> Result<u64, idem::Error> {
    println!("charging {amount} for {order} under {key}");
    Ok(amount)
}

fn main() {
    let _ = charge(17, 1200);
}

use idem::idempotent;

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> u64 {
    order
}

fn main() {
    let _ = charge(1);
}

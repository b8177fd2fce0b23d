use idem::idempotent;

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Option<u64> {
    Some(order)
}

fn main() {
    let _ = charge(1);
}

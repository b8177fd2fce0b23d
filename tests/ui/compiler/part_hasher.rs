use std::hash::DefaultHasher;

use idem::idempotent;

#[idempotent(key = "order:<order>:<reference>")]
fn charge(order: u64, reference: DefaultHasher) -> Result<u64, idem::Error> {
    let _ = reference;
    Ok(order)
}

fn main() {
    let _ = charge(1, DefaultHasher::new());
}

use std::sync::Mutex;

use idem::idempotent;

#[idempotent(key = "order:<order>:<reference>")]
fn charge(order: u64, reference: &Mutex<String>) -> Result<u64, idem::Error> {
    let _ = reference;
    Ok(order)
}

fn main() {
    let _ = charge(1, &Mutex::default());
}

use std::num::ParseIntError;

use idem::idempotent;

#[idempotent(key = "order:<order>:<reference>")]
fn charge(order: u64, reference: Result<u64, ParseIntError>) -> Result<u64, idem::Error> {
    let _ = reference;
    Ok(order)
}

fn main() {
    let _ = charge(1, "7".parse());
}

use idem::idempotent;
use std::time::SystemTime;

#[idempotent(key = "order:<order>:<part>")]
fn charge(order: u64, part: SystemTime) -> Result<u64, idem::Error> {
    let _ = part;
    Ok(order)
}

fn main() {
    let _ = charge(1, SystemTime::now());
}

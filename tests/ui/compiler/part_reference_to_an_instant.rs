use idem::idempotent;
use std::time::Instant;

#[idempotent(key = "order:<order>:<part>")]
fn charge(order: u64, part: &Instant) -> Result<u64, idem::Error> {
    let _ = part;
    Ok(order)
}

fn main() {
    let _ = charge(1, &Instant::now());
}

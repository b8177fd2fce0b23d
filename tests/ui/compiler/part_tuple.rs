use idem::idempotent;

#[idempotent(key = "order:<order>:<part>")]
fn charge(order: u64, part: (u64, u64)) -> Result<u64, idem::Error> {
    let _ = part;
    Ok(order)
}

fn main() {
    let _ = charge(1, (1, 2));
}

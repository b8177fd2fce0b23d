use idem::idempotent;

#[idempotent(key = "order:<order>:<part>")]
fn charge(order: u64, part: Vec<u64>) -> Result<u64, idem::Error> {
    let _ = part;
    Ok(order)
}

fn main() {
    let _ = charge(1, Vec::new());
}

use idem::idempotent;
use std::collections::HashMap;

#[idempotent(key = "order:<order>:<part>")]
fn charge(order: u64, part: HashMap<String, String>) -> Result<u64, idem::Error> {
    let _ = part;
    Ok(order)
}

fn main() {
    let _ = charge(1, HashMap::new());
}

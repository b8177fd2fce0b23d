use idem::idempotent;
use serde_json::Value;

#[idempotent(key = "order:<order>:<reference>")]
fn charge(order: u64, reference: &Value) -> Result<u64, idem::Error> {
    let _ = reference;
    Ok(order)
}

fn main() {
    let _ = charge(1, &serde_json::Value::Null);
}

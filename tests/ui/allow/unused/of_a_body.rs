use idem::{Key, idempotent};

struct Order {
    id: String,
}

fn post(path: &str, header: (&str, &str)) {
    println!("{path} {header:?}");
}

#[idempotent(key = "order:<order.id>", allow(body_fresh_key, reason = "each try is a request of its own"))]
async fn charge(order: Order, #[key] key: &Key) -> Result<(), idem::Error> {
    post(&order.id, ("Idempotency-Key", key.as_str()));
    Ok(())
}

fn main() {}

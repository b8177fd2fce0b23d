use idem::idempotent;
use serde_json::json;
use uuid::Uuid;

struct Order {
    id: String,
}

fn send(entry: &serde_json::Value) -> anyhow::Result<()> {
    println!("{entry}");
    Ok(())
}

#[idempotent(key = "order:<order.id>")]
fn ship(order: Order) -> anyhow::Result<()> {
    send(&json!({
        "MessageBody": order.id,
        "MessageGroupId": "orders",
        "MessageDeduplicationId": Uuid::new_v4().to_string(),
    }))
}

fn main() {}

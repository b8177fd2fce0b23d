use idem::{Key, idempotent};
use uuid::Uuid;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order, #[key] key: &Key) -> anyhow::Result<()> {
    println!("{key} {}", order.id);
    let request = reqwest::Client::new().post("https://pay.example");
    request.header("Idempotency-Key", Uuid::new_v4().to_string()).send().await?;
    Ok(())
}

fn main() {}

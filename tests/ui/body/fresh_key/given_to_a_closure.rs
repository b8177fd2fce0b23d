use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let client = reqwest::Client::new();
    let post = |key: Uuid| client.post("https://pay.example").header("Idempotency-Key", key.to_string());
    if post(Uuid::new_v4()).send().await.is_err() {
        post(order.id.parse()?).send().await?;
    }
    Ok(())
}

fn main() {}

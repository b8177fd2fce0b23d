use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let client = reqwest::Client::new();
    let authorize = client.post("https://pay.example/authorize").body(order.id.clone());
    authorize.header("Idempotency-Key", Uuid::new_v4().to_string()).send().await?;
    let capture = client.post("https://pay.example/capture").body(order.id);
    capture.header("Idempotency-Key", Uuid::new_v4().to_string()).send().await?;
    Ok(())
}

fn main() {}

use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
    amount: u64,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    reqwest::Client::new()
        .post("https://payments.example/charges")
        .header("Idempotency-Key", Uuid::new_v4().to_string())
        .body(format!("{{\"amount\":{}}}", order.amount))
        .send()
        .await?;
    Ok(())
}

fn main() {}

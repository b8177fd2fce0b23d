use std::time::{SystemTime, UNIX_EPOCH};

use idem::idempotent;

struct Subscribe {
    id: String,
    customer: String,
    price: String,
}

#[idempotent(key = "subscribe:<order.id>")]
async fn subscribe(order: Subscribe) -> anyhow::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let minute = now.as_secs() / 60 % 60;
    let key = format!("{}:{}:{minute}", order.customer, order.price);
    reqwest::Client::new()
        .post("https://billing.example/subscriptions")
        .header("Idempotency-Key", key)
        .send()
        .await?;
    Ok(())
}

fn main() {}

use std::time::Duration;

use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let delays = [1, 2, 4].map(Duration::from_secs);
    for (attempt, delay) in delays.into_iter().enumerate() {
        let request = reqwest::Client::new().post("https://pay.example");
        let key = format!("{}-{attempt}", order.id);
        if request.header("Idempotency-Key", key).send().await.is_ok() {
            break;
        }
        tokio::time::sleep(delay).await;
    }
    Ok(())
}

fn main() {}

use idem::{Attempt, idempotent};

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order, #[attempt] attempt: &Attempt) -> anyhow::Result<()> {
    let key = format!("{}-{}", order.id, attempt.tries());
    reqwest::Client::new().post("https://pay.example").header("Idempotency-Key", key).send().await?;
    Ok(())
}

fn main() {}

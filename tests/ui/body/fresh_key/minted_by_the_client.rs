use idem::idempotent;

/// As in `async-stripe`.
enum RequestStrategy {
    Idempotent(String),
}

impl RequestStrategy {
    fn idempotent_with_uuid() -> Self {
        Self::Idempotent(uuid::Uuid::new_v4().to_string())
    }
}

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let RequestStrategy::Idempotent(key) = RequestStrategy::idempotent_with_uuid();
    let request = reqwest::Client::new().post("https://pay.example").body(order.id);
    request.bearer_auth(key).send().await?;
    Ok(())
}

fn main() {}

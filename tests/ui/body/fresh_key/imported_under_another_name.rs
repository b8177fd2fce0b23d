use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    use uuid::Uuid as Id;
    type Millis = std::time::SystemTime;
    let client = reqwest::Client::new();
    let authorize = client.post("https://pay.example/authorize").header("Idempotency-Key", Id::new_v4().to_string());
    authorize.body(order.id).send().await?;
    let at = Millis::now();
    client.post("https://pay.example/capture").header("Idempotency-Key", format!("{at:?}")).send().await?;
    Ok(())
}

fn main() {}

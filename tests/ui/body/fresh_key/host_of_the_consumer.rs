use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let host = std::env::var("HOSTNAME")?;
    let key = host + ":" + &order.id;
    reqwest::Client::new().post("https://pay.example").header("Idempotency-Key", key).send().await?;
    Ok(())
}

fn main() {}

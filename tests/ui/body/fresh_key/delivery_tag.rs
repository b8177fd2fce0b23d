use idem::idempotent;

struct Delivery {
    id: String,
    delivery_tag: u64,
}

#[idempotent(key = "order:<delivery.id>")]
async fn charge(delivery: Delivery) -> anyhow::Result<()> {
    reqwest::Client::new()
        .post("https://payments.example/charges")
        .header("Idempotency-Key", format!("orders-{}", delivery.delivery_tag))
        .send()
        .await?;
    Ok(())
}

fn main() {}

use idem::idempotent;

struct Properties {
    message_id: Option<String>,
}

struct Delivery {
    properties: Properties,
    order: String,
}

#[idempotent(key = "order:<delivery.order>")]
async fn charge(delivery: Delivery) -> anyhow::Result<()> {
    let id = delivery.properties.message_id.clone().unwrap_or_default();
    reqwest::Client::new()
        .post("https://payments.example/charges")
        .header("Idempotency-Key", format!("rabbit-{id}"))
        .send()
        .await?;
    Ok(())
}

fn main() {}

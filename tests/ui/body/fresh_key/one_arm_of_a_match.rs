use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
    reference: Option<String>,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let key = match &order.reference {
        Some(reference) if !reference.is_empty() => reference.clone(),
        _ => Uuid::new_v4().to_string(),
    };
    reqwest::Client::new().post("https://pay.example").header("Cko-Idempotency-Key", key).send().await?;
    Ok(())
}

fn main() {}

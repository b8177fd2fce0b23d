use idem::idempotent;
use serde_json::json;
use uuid::Uuid;

struct Card {
    nonce: String,
    cents: u64,
}

#[idempotent(key = "card:<card.nonce>")]
async fn pay(card: Card) -> anyhow::Result<()> {
    let body = json!({
        "source_id": card.nonce,
        "idempotency_key": Uuid::new_v4().to_string(),
        "amount_money": { "amount": card.cents, "currency": "USD" },
    });
    reqwest::Client::new().post("https://connect.example/v2/payments").json(&body).send().await?;
    Ok(())
}

fn main() {}

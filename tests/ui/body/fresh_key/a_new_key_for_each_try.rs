use idem::idempotent;
use uuid::Uuid;

struct Payment {
    id: String,
    amount: u64,
}

#[idempotent(key = "payment:<payment.id>")]
async fn create(payment: Payment) -> anyhow::Result<()> {
    let client = reqwest::Client::new();
    for _ in 0..3 {
        let response = client
            .post("https://api.example/payments")
            .header("Idempotency-Key", Uuid::new_v4().to_string())
            .body(payment.amount.to_string())
            .send()
            .await?;
        if response.status().is_success() {
            break;
        }
    }
    Ok(())
}

fn main() {}

use idem::idempotent;

struct Refund {
    id: String,
    key: Option<String>,
}

#[idempotent(key = "refund:<refund.id>")]
async fn pay_back(refund: Refund) -> anyhow::Result<()> {
    let key = refund.key.unwrap_or_default();
    reqwest::Client::new()
        .post("https://payments.example/refunds")
        .header("Idempotency-Key", key)
        .send()
        .await?;
    Ok(())
}

fn main() {}

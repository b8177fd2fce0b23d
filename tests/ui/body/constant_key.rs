use idem::idempotent;

struct Refund {
    id: String,
}

#[idempotent(key = "refund:<refund.id>")]
async fn pay_back(refund: Refund) -> anyhow::Result<()> {
    reqwest::Client::new()
        .post(format!("https://payments.example/refunds/{}", refund.id))
        .header("Idempotency-Key", "refund")
        .send()
        .await?;
    Ok(())
}

fn main() {}

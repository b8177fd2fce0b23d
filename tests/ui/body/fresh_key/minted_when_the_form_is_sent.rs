use idem::idempotent;
use uuid::Uuid;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

struct Transfer {
    id: u64,
    iban: String,
}

#[idempotent(key = "transfer:<transfer.id>")]
async fn submit(transfer: Transfer) -> anyhow::Result<()> {
    let key = Uuid::new_v4();
    let key = format!("transfer-{key}");
    reqwest::Client::new()
        .post("https://bank.example/transfers")
        .header(IDEMPOTENCY_KEY, &key)
        .body(transfer.iban)
        .send()
        .await?;
    Ok(())
}

fn main() {}

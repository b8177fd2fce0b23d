use std::time::{SystemTime, UNIX_EPOCH};

use idem::idempotent;
use serde_json::json;

fn sha256(text: &str) -> String {
    text.to_owned()
}

struct Signed {
    document: String,
}

#[idempotent(key = "signed:<signed.document>")]
async fn call_webhook(signed: Signed) -> anyhow::Result<()> {
    let created_at = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let payload = json!({ "event": "DOCUMENT_SIGNED", "id": signed.document, "createdAt": created_at as u64 });
    let payload = payload.to_string();
    reqwest::Client::new()
        .post("https://customer.example/webhook")
        .header("Idempotency-Key", sha256(&payload))
        .body(payload)
        .send()
        .await?;
    Ok(())
}

fn main() {}

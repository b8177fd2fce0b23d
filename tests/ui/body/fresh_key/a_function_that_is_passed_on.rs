use idem::idempotent;
use uuid::Uuid;

struct Request {
    id: String,
    key: Option<Uuid>,
}

#[idempotent(key = "request:<request.id>")]
async fn post(request: Request) -> anyhow::Result<()> {
    let key = request.key.unwrap_or_else(Uuid::new_v4);
    reqwest::Client::new()
        .post("https://api.example/orders")
        .header("PayPal-Request-Id", key.to_string())
        .send()
        .await?;
    Ok(())
}

fn main() {}

use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
    lines: Vec<String>,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let keys: Vec<(String, Uuid)> = order.lines.into_iter().map(|line| (line, Uuid::new_v4())).collect();
    let client = reqwest::Client::new();
    for (line, key) in &keys {
        client.post("https://pay.example").body(line.clone()).header("Idempotency-Key", key.to_string()).send().await?;
    }
    Ok(())
}

fn main() {}

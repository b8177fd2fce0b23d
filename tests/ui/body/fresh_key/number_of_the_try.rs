use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let client = reqwest::Client::new();
    for attempt in 1..=3 {
        let request = client.post("https://pay.example");
        if request.header("Idempotency-Key", format!("{}-{attempt}", order.id)).send().await.is_ok() {
            break;
        }
    }
    Ok(())
}

fn main() {}

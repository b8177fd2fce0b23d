use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let mut retries = 0;
    while retries < 3 {
        retries += 1;
        let request = reqwest::Client::new().post("https://pay.example");
        let key = format!("{}-{retries}", order.id);
        if request.header("Idempotency-Key", key).send().await.is_ok() {
            break;
        }
    }
    Ok(())
}

fn main() {}

use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let key = format!("{:x}", order.id.as_ptr() as usize);
    let request = reqwest::Client::new().post("https://pay.example");
    request.header("Idempotency-Key", key).send().await?;
    Ok(())
}

fn main() {}

use idem::idempotent;

struct Order {
    id: String,
}

/// As in the runtime for Lambda.
struct Context {
    request_id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order, context: Context) -> anyhow::Result<()> {
    let request = reqwest::Client::new().post("https://pay.example").body(order.id);
    request.header("Idempotency-Key", context.request_id).send().await?;
    Ok(())
}

fn main() {}

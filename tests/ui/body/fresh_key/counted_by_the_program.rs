use idem::idempotent;

static mut CHARGES: u64 = 0;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let number = unsafe {
        CHARGES += 1;
        CHARGES
    };
    let request = reqwest::Client::new().post("https://pay.example");
    request.header("Idempotency-Key", format!("{}-{number}", order.id)).send().await?;
    Ok(())
}

fn main() {}

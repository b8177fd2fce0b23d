use std::time::SystemTime;

use idem::idempotent;

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = SystemTime::now().elapsed()?.subsec_nanos().to_le_bytes()[0];
    }
    let request = reqwest::Client::new().post(format!("https://pay.example/{}", order.id));
    request.header("Idempotency-Key", format!("{bytes:02x?}")).send().await?;
    Ok(())
}

fn main() {}

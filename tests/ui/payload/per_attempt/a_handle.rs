use idem::idempotent;

struct Delivery {
    id: String,
    delivery_tag: u64,
}

#[idempotent(key = "msg:<delivery.id>", payload(delivery.delivery_tag))]
async fn charge(delivery: Delivery) -> Result<u64, idem::Error> {
    Ok(delivery.delivery_tag)
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = "msg:<delivery.delivery_tag>")]
async fn handle(delivery: Delivery) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&delivery.delivery_tag, &delivery.message_id,)))
}

struct Delivery {
    delivery_tag: u64,
    message_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

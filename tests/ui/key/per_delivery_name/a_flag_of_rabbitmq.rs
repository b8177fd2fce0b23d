use idem::idempotent;

#[idempotent(key = "msg:<delivery.message_id>:<delivery.redelivered>")]
async fn handle(delivery: Delivery) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&delivery.message_id, &delivery.redelivered,)))
}

struct Delivery {
    message_id: String,
    redelivered: bool,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = "msg:<message.order_id>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.order_id, &message.status,)))
}

struct Message {
    order_id: u64,
    status: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

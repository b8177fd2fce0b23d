use idem::idempotent;

#[idempotent(key = ["msg:<message.id>", "customer:<message.customer_id>"])]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.id, &message.customer_id,)))
}

struct Message {
    id: Option<String>,
    customer_id: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

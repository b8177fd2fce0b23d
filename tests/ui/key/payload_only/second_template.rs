use idem::idempotent;

#[idempotent(key = ["msg:<message.id>", "charge:<message.customer_id>:<message.amount>"])]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.id, &message.customer_id, message.amount)))
}

struct Message {
    id: Option<String>,
    customer_id: u64,
    amount: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

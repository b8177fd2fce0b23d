use idem::idempotent;

#[idempotent(key = "msg:<message.id>:<message.nonce>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.id, &message.nonce,)))
}

struct Message {
    id: String,
    nonce: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

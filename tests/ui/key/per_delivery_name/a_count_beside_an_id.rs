use idem::idempotent;

#[idempotent(key = "msg:<message.id>:<message.retry_count>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.id, &message.retry_count,)))
}

struct Message {
    id: String,
    retry_count: u32,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

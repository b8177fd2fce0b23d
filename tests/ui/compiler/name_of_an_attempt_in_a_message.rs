use idem::idempotent;

#[idempotent(key = "msg:<message.attempt_id>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.attempt_id,)))
}

struct Message {
    attempt_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

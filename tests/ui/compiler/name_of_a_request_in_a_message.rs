use idem::idempotent;

#[idempotent(key = "msg:<message.request_id>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.request_id,)))
}

struct Message {
    request_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

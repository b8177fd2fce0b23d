use idem::idempotent;

#[idempotent(key = "msg:<message.traceparent>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.traceparent,)))
}

struct Message {
    traceparent: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

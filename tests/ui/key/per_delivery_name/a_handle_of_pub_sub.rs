use idem::idempotent;

#[idempotent(key = "pubsub:<received.ack_id>")]
async fn handle(received: Received) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&received.ack_id, &received.message_id,)))
}

struct Received {
    ack_id: String,
    message_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

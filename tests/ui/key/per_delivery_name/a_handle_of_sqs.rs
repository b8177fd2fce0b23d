use idem::idempotent;

#[idempotent(key = "sqs:<message.receipt_handle>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.receipt_handle, &message.message_id,)))
}

struct Message {
    receipt_handle: String,
    message_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

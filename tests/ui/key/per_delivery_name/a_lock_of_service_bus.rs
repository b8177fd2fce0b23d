use idem::idempotent;

#[idempotent(key = "asb:<message.lock_token>")]
async fn handle(message: Received) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.lock_token, &message.message_id,)))
}

struct Received {
    lock_token: u128,
    message_id: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = "welcome:<message.user_id>")]
async fn handle(message: SignedUp) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.user_id, &message.address,)))
}

struct SignedUp {
    user_id: u64,
    address: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

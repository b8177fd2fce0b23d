use idem::idempotent;

#[idempotent(key = "welcome:<message.user.user_id>")]
async fn handle(message: SignedUp) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.user.user_id, &message.user.address,)))
}

struct SignedUp {
    user: User,
}

struct User {
    user_id: u64,
    address: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = "welcome:<message.email>")]
async fn handle(message: SignedUp) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.email,)))
}

struct SignedUp {
    email: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

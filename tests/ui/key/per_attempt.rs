use idem::idempotent;

#[idempotent(key = "msg:<Uuid::new_v4()>")]
async fn welcome(message: SignedUp) -> Result<(), idem::Error> {
    Ok(println!("to {}", message.address))
}

struct SignedUp {
    id: String,
    address: String,
}

fn main() {
    let _ = welcome(SignedUp { id: String::new(), address: String::new() });
}

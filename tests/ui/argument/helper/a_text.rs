use idem::idempotent;

struct Message {
    id: String,
}

#[idempotent(store = none, key = "msg:<message.id>")]
async fn charge(message: Message, #[key] key: &str) -> Result<(), idem::Error> {
    Ok(println!("{key} {}", message.id))
}

fn main() {
    let _ = charge(Message { id: String::new() }); // the caller does not pass the key
}

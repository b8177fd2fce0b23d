use idem::idempotent;

struct Message {
    id: String,
}

#[idempotent(store = none, key = "msg:<message.id>")]
async fn charge(message: Message, #[key] key: &uuid::Uuid) -> Result<(), idem::Error> {
    Ok(println!("{key} {}", message.id))
}

fn main() {}

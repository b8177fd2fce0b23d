use idem::idempotent;

struct Message {
    id: String,
}

struct OrderKey;

#[idempotent(store = none, key = "msg:<message.id>")]
async fn charge(message: Message, #[key] key: &OrderKey) -> Result<(), idem::Error> {
    let _ = key;
    Ok(println!("{}", message.id))
}

fn main() {}

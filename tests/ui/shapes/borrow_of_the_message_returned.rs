use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) -> Result<&str, idem::Error> {
    Ok(&message.id)
}

fn main() {}

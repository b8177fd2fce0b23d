use idem::idempotent;

struct Message {
    id: String,
}

#[idempotent(key = "msg:<message.id>", store = "redis://localhost")]
async fn charge(message: Message) -> Result<String, idem::Error> {
    Ok(message.id)
}

fn main() {}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>", require = "durable", store = store)]
async fn charge(message: Message, store: &idem::MemoryStore) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

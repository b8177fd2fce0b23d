use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>", require = "transactional", store = seen)]
async fn charge(message: Message, seen: &idem::SeenSet<idem::MemoryStore>) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

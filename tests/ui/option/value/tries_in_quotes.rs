use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>", max_tries = "3")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

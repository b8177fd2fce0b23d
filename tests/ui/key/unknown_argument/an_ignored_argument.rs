use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(_: Message, amount: u64) -> Result<u64, idem::Error> {
    Ok(amount)
}

fn main() {}

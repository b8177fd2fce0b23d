use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>", tx = pool.begin().await?)]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

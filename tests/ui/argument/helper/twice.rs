use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message, #[key] key: &idem::Key, #[key] same: &idem::Key) -> Result<u64, idem::Error> {
    let _ = (key, same);
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

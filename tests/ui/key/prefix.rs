use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "<message.id>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

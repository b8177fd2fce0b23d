use idem::idempotent;

struct Message {
    id: String,
    sent_at: u64,
}

#[idempotent(key = "msg:<message.id>", published = message.sent_at)]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.sent_at)
}

fn main() {
    let _ = charge(Message { id: String::new(), sent_at: 1 });
}

use idem::idempotent;

struct Message {
    event: Option<u64>,
    id: u64,
}

#[idempotent(key = ["msg:<message.event>", "msg:<message.id>"])]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.event.unwrap_or(message.id))
}

fn main() {
    let _ = charge(Message { event: None, id: 5 });
}

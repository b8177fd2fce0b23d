use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
fn charge(message: &Message) -> Result<Option<(&str, u64)>, idem::Error> {
    Ok(Some((&message.id, message.amount)))
}

fn main() {}

#![deny(unused_must_use)]
use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[must_use = "charge it"]
#[idempotent(key = "msg:<message.id>")]
fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    charge(Message { id: String::new(), amount: 1 });
}

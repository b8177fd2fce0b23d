use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(store = none, key = "<message.id>", keep = "1d", redelivery = "4d")]
fn charge<T>(message: Message, other: T) {
    let _ = (message, other);
}

fn main() {
    charge(Message { id: String::new(), amount: 1 }, 3);
}

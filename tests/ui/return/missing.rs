use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) {
    println!("{}", message.amount);
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

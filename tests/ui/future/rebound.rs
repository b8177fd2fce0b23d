use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
fn charge(message: Message) -> impl Future<Output = Result<u64, idem::Error>> {
    let message = Message { id: message.id.to_lowercase(), ..message };
    async move { Ok(message.amount) }
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

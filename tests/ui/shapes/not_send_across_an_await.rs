use idem::idempotent;
use std::rc::Rc;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    let shared = Rc::new(message.amount);
    std::future::ready(()).await;
    Ok(*shared)
}

fn sent<F: Future + Send>(_: F) {}

fn main() {
    sent(charge(Message { id: String::new(), amount: 1 }));
}

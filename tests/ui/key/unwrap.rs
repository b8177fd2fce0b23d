use idem::idempotent;

struct Message {
    order: Option<u64>,
    amount: u64,
}

#[idempotent(key = "order:<message.order.unwrap()>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { order: None, amount: 1 });
}

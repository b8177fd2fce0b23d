use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge<Api: Default>(message: Message) -> Result<u64, idem::Error> {
    let _ = Api::default();
    Ok(message.amount)
}

fn main() {
    let _ = charge::<()>(Message { id: String::new(), amount: 1 });
}

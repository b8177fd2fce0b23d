use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message, api: impl Fn(u64) -> u64) -> Result<u64, idem::Error> {
    Ok(api(message.amount))
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 }, |amount| amount);
}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "order:<number>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    let number = message.amount;
    Ok(number)
}

fn main() {}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    let fee: u64 = "ten";
    Ok(fee + message.amount)
}

fn main() {}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<mesage.id>")]
async fn charge(message: Message, attempts: u32) -> Result<u64, idem::Error> {
    Ok(message.amount + u64::from(attempts))
}

fn main() {}

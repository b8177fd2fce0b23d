use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<attempt>")]
async fn charge(message: Message, #[attempt] attempt: &idem::Attempt) -> Result<u64, idem::Error> {
    let _ = attempt;
    Ok(message.amount)
}

fn main() {}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message, #[attempt] attempt: &mut idem::Attempt) -> Result<u64, idem::Error> {
    let _ = attempt;
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message, #[steps] steps: &Steps) -> Result<u64, idem::Error> {
    let _ = steps;
    Ok(message.amount)
}

struct Steps;

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

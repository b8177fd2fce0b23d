use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge<const FEE: u64>(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount + FEE)
}

fn main() {
    let _ = charge::<3>(Message { id: String::new(), amount: 1 });
}

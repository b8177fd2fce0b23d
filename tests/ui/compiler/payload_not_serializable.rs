use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
    card: Card,
}

struct Card;

#[idempotent(key = "msg:<message.id>", payload(message.card))]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

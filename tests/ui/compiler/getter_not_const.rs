use idem::idempotent;

struct Message {
    amount: u64,
}

impl Message {
    fn number(&self) -> u64 {
        self.amount
    }
}

#[idempotent(key = "msg:<message.number()>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { amount: 1 });
}

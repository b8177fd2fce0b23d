use idem::idempotent;

struct Message {
    amount: u64,
}

impl Message {
    const fn number(&self) -> usize {
        self as *const Self as usize
    }
}

#[idempotent(key = "msg:<message.number()>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { amount: 1 });
}

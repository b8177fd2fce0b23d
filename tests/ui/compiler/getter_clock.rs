use idem::idempotent;
use std::time::{SystemTime, UNIX_EPOCH};

struct Message {
    amount: u64,
}

impl Message {
    fn number(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
    }
}

#[idempotent(key = "msg:<message.number()>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { amount: 1 });
}

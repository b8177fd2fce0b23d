use idem::idempotent;
use std::sync::atomic::{AtomicU64, Ordering};

static COUNTER: AtomicU64 = AtomicU64::new(0);

struct Message {
    amount: u64,
}

impl Message {
    const fn number(&self) -> u64 {
        COUNTER.fetch_add(1, Ordering::Relaxed)
    }
}

#[idempotent(key = "msg:<message.number()>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {
    let _ = charge(Message { amount: 1 });
}

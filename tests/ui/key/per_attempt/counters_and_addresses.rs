use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<COUNTER.fetch_add(1, Relaxed)>")]
fn counter(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<COUNTER.swap(1, Relaxed)>")]
fn swap(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<message.id.as_ptr()>")]
fn address(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Arc::as_ptr(&message)>")]
fn shared(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<DefaultHasher::new().finish()>")]
fn hasher(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<RandomState::new().hash_one(message.id)>")]
fn state(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<bcrypt::hash(message.id, 4)>")]
fn salted(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

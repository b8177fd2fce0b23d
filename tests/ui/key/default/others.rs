use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<Uuid::default()>")]
fn default(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Default::default()>")]
fn default_of_the_trait(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<message.id.unwrap_or_default()>")]
fn or_default(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<Uuid::nil()>")]
fn nil(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<env!(\"CARGO_PKG_VERSION\")>")]
fn version(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<line!()>")]
fn line(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<module_path!()>")]
fn module(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<std::any::type_name::<Message>()>")]
fn type_name(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<std::mem::discriminant(&message)>")]
fn discriminant(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

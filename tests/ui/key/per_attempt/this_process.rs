use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<std::process::id()>")]
fn process(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<std::thread::current().id()>")]
fn thread(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<tokio::task::id()>")]
fn task(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<hostname::get()>")]
fn host(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<std::env::var(\"POD_NAME\")>")]
fn pod(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<tracing::Span::current().id()>")]
fn span(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<listener.local_addr()>")]
fn port(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

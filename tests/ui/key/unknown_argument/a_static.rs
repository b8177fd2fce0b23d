use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

static TENANT: &str = "acme";

#[idempotent(key = "msg:<TENANT>:<message.id>")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

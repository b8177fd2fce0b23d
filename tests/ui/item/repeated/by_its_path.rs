struct Message {
    id: String,
}

#[idem::idempotent(key = "msg:<message.id>")]
#[inline]
#[idem::idempotent(key = "msg:<message.id>", scope = "billing.charge")]
fn charge(message: Message) -> Result<String, idem::Error> {
    Ok(message.id)
}

fn main() {}

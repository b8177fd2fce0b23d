use idem::idempotent;

struct Message {
    id: String,
    event: Option<String>,
}

#[idempotent(key = "evt:<message.event>")]
#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) -> Result<String, idem::Error> {
    Ok(message.event.unwrap_or(message.id))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

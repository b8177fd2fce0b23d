use std::collections::BTreeMap;

use idem::idempotent;

#[idempotent(key = "msg:<message.id>:<message.headers[\"x-delivery-count\"]>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{} {:?}", message.id, message.headers))
}

struct Message {
    id: String,
    headers: BTreeMap<String, String>,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

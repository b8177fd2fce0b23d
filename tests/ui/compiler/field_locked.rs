use idem::idempotent;

struct Message {
    id: String,
    part: std::sync::Mutex<u64>,
}

#[idempotent(key = "msg:<message.id>:<message.part>")]
fn handle(message: &Message) -> Result<(), idem::Error> {
    Ok(println!("{} {:?}", message.id, message.part))
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

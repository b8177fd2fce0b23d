use idem::{Message, idempotent};

#[derive(Message)]
struct Transfer {
    #[message(id)]
    id: String,
    nonce: u64,
}

#[idempotent(key = "msg:<message.id>:<message.nonce>")]
fn send(message: &Transfer) -> Result<(), idem::Error> {
    Ok(println!("{} {}", message.id, message.nonce))
}

fn main() {}

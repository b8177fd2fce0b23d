use idem::idempotent;

#[idempotent(key = "msg:<message.batch_index>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.batch_index,)))
}

struct Message {
    batch_index: u32,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = "queue:<message.msg_id>:<message.vt>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.msg_id, &message.vt,)))
}

struct Message {
    msg_id: i64,
    vt: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

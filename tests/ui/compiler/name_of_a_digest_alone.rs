use idem::idempotent;

#[idempotent(key = "msg:<message.md5_of_body>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.md5_of_body,)))
}

struct Message {
    md5_of_body: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

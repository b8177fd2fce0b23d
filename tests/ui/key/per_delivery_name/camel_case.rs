use idem::idempotent;

#[idempotent(key = "msg:<message.deliveryTag>")]
async fn handle(message: Message) -> Result<(), idem::Error> {
    Ok(println!("{}", message.deliveryTag))
}

#[allow(non_snake_case)]
struct Message {
    deliveryTag: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

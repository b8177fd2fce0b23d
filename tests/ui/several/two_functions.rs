use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg")]
async fn charge(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>")]
async fn mail(message: Message) {
    println!("{}", message.amount);
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
    let _ = mail(Message { id: String::new(), amount: 1 });
}

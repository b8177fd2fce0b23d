use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) -> Result<&'static str, idem::Error> {
    println!("{}", message.amount);
    Ok("charged")
}

fn main() {
    let _ = charge(Message { id: String::new(), amount: 1 });
}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
async fn consume(message: Message) -> ! {
    println!("{}", message.amount);
    loop {}
}

fn main() {
    let _ = consume(Message { id: String::new(), amount: 1 });
}

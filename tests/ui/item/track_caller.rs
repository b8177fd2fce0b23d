use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

struct Handler;

impl Handler {
    #[idempotent(scope = "billing.charge", key = "msg:<message.id>")]
    #[track_caller]
    fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        println!("charged from {}", std::panic::Location::caller());
        Ok(message.amount)
    }
}

fn main() {
    let _ = Handler.charge(Message { id: String::new(), amount: 1 });
}

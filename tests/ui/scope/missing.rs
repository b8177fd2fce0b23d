use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

struct Handler;

impl Handler {
    #[idempotent(key = "msg:<message.id>")]
    async fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount)
    }
}

fn main() {
    let _ = Handler.charge(Message { id: String::new(), amount: 1 });
}

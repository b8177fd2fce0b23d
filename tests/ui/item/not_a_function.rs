use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

struct Handler;

#[idempotent(key = "msg:<message.id>")]
impl Handler {
    async fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount)
    }
}

fn main() {
    let _ = Handler.charge(Message { id: String::new(), amount: 1 });
}

use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

trait Handler {
    #[idempotent(scope = "billing.charge", key = "msg:<message.id>")]
    fn charge(&self, message: Message) -> Result<u64, idem::Error>;
}

struct Live;

impl Handler for Live {
    fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount)
    }
}

fn main() {
    let _ = Live.charge(Message { id: String::new(), amount: 1 });
}

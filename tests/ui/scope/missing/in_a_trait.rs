use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

trait Handler {
    const FEE: u64;

    #[idempotent(key = "msg:<message.id>")]
    fn charge(&self, message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount + Self::FEE)
    }
}

fn main() {}

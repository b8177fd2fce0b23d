use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
trait Handler {
    fn charge(&self, message: Message) -> Result<u64, idem::Error>;
}

fn main() {}

use idem::idempotent;
use std::pin::Pin;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>")]
fn charge(message: Message) -> Pin<Box<dyn Future<Output = Result<u64, idem::Error>> + Send>> {
    async fn inner(message: Message) -> Result<u64, idem::Error> {
        Ok(message.amount)
    }
    let future = inner(message);
    Box::pin(future)
}

fn main() {}

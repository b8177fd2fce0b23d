use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(scope = "shard.drain", key = "shard:<N>")]
async fn drain<const N: usize>(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

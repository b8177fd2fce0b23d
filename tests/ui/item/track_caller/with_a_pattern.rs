use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[track_caller]
#[idempotent(key = "msg:<id>")]
fn charge(Message { id, amount }: Message) -> Result<u64, idem::Error> {
    println!("{id} charged from {}", std::panic::Location::caller());
    Ok(amount)
}

fn main() {}

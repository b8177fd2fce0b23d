use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<message.id>:<rand::random::<u64>()>")]
fn number(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<random()>")]
fn imported_number(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<rand::random_range(0..9)>")]
fn range(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<rand::thread_rng().gen_range(0..9)>")]
fn thread_rng(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<rand::rng().next_u64()>")]
fn rng(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<fastrand::u64(..)>")]
fn fast(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<getrandom::u64()>")]
fn system(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<StdRng::from_os_rng()>")]
fn seeded(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

#[idempotent(key = "msg:<message.id>:<self.rng.next_u32()>")]
fn rng_of_the_handler(message: Message) -> Result<u64, idem::Error> {
    Ok(message.amount)
}

fn main() {}

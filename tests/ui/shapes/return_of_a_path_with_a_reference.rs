use idem::idempotent;

struct Message {
    id: String,
    amount: u64,
}

type Answer = Result<&'static str, idem::Error>;

#[idempotent(key = "msg:<message.id>")]
async fn charge(message: Message) -> Answer {
    println!("{}", message.amount);
    Ok("charged")
}

fn main() {}

use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    #[message(skip)]
    cached: u64,
}

#[idempotent(key = "msg:<payment.cached>")]
fn charge(payment: Box<Payment>) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&payment.id, &payment.cached,)))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

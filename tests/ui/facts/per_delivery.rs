use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    amount: u64,
    #[message(per_delivery)]
    lane: u16,
}

#[idempotent(key = "msg:<payment.id>:<payment.lane>")]
fn charge(payment: &Payment) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&payment.id, &payment.amount, &payment.lane,)))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    reference: u64,
}

#[idempotent(key = "msg:<payment.reference>")]
fn charge(payment: &Payment) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&payment.id, &payment.reference,)))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

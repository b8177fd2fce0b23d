use idem::{Message, idempotent};

#[derive(Message)]
struct Payment<'a> {
    #[message(id)]
    id: &'a str,
    reference: &'a str,
}

#[idempotent(key = "msg:<payment.reference>")]
fn charge(payment: &Payment<'_>) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&payment.id, &payment.reference,)))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

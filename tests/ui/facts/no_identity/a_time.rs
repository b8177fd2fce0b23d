use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    #[message(published_at)]
    published: u64,
}

#[idempotent(key = "msg:<payment.published>")]
fn charge(payment: &Payment) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&payment.id, &payment.published,)))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    id: String,
    amount: u64,
}

#[idempotent(key = "msg:<payment.id>")]
fn charge(payment: &Payment) -> Result<u64, idem::Error> {
    Ok(payment.amount)
}

fn wants_a_message(_: &impl Message) {}

fn main() {
    let payment = Payment { id: String::new(), amount: 1 };
    wants_a_message(&payment); // still one: exactly one error above
    let _ = charge(&payment);
}

use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    amount: u64,
    receipt_handle: String,
}

#[idempotent(key = "msg:<payment.id>")]
fn charge(payment: &Payment) -> Result<(), idem::Error> {
    Ok(println!("{} {} {}", payment.id, payment.amount, payment.receipt_handle))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

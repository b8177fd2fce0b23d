use idem::{Message, idempotent};

#[derive(Message)]
struct Payment {
    #[message(id)]
    id: String,
    card: u64,
    shop: u64,
}

#[idempotent(key = "charge:<payment.card>:<payment.shop>")]
fn charge(payment: Payment) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&payment.id, &payment.card, &payment.shop,)))
}

fn main() {
    let _ = charge; // still known: exactly one error above
}

use idem::{Message, idempotent};

#[derive(Message)]
struct Paid {
    #[message(event)]
    event: String,
    order_id: u64,
}

#[idempotent(key = "msg:<paid.order_id>")]
fn book(paid: &Paid) -> Result<(), idem::Error> {
    Ok(println!("{} {}", paid.event, paid.order_id))
}

fn main() {
    let _ = book; // still known: exactly one error above
}

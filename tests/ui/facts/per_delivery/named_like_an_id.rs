use idem::{Message, idempotent};

#[derive(Message)]
struct Delivery {
    #[message(id)]
    transfer: String,
    #[message(per_delivery)]
    message_id: String,
}

#[idempotent(key = "msg:<delivery.message_id>")]
fn charge(delivery: &Delivery) -> Result<(), idem::Error> {
    Ok(println!("{} {}", delivery.transfer, delivery.message_id))
}

fn main() {}

use idem::idempotent;

#[idempotent(key = "charge:<message.customer_id>:<message.amount>")]
async fn handle(message: Payment) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&message.customer_id, &message.amount,)))
}

struct Payment {
    customer_id: u64,
    amount: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = ["msg:<delivery.delivery_tag>", "from:<delivery.consumer_tag>"])]
async fn handle(delivery: Delivery) -> Result<(), idem::Error> {
    Ok(println!("{} {}", delivery.delivery_tag, delivery.consumer_tag))
}

struct Delivery {
    delivery_tag: u64,
    consumer_tag: String,
}

fn main() {
    let _ = handle; // still known: exactly one error for each template
}

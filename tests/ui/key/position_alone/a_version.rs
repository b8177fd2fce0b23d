use idem::idempotent;

#[idempotent(key = "evt:<event.order.version>")]
async fn handle(event: Event) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&event.order.id, &event.order.version,)))
}

struct Event {
    order: Order,
}

struct Order {
    id: u64,
    version: u32,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

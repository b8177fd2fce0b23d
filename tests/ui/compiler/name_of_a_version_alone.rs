use idem::idempotent;

#[idempotent(key = "evt:<event.version>")]
async fn handle(event: Event) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&event.order_id, &event.version,)))
}

struct Event {
    order_id: u64,
    version: u32,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

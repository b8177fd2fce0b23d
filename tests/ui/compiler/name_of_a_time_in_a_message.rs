use idem::idempotent;

#[idempotent(key = "evt:<event.id>:<event.processed_at>")]
async fn handle(event: Event) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&event.id, &event.processed_at,)))
}

struct Event {
    id: String,
    processed_at: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

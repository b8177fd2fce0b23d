use idem::idempotent;

#[idempotent(key = "evt:<event.event_type>:<event.status>")]
async fn handle(event: Event) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&event.event_type, &event.status,)))
}

struct Event {
    event_type: String,
    status: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

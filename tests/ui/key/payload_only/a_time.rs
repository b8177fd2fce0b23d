use idem::idempotent;

#[idempotent(key = "evt:<event.created_at>")]
async fn handle(event: Event) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&event.created_at,)))
}

struct Event {
    created_at: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

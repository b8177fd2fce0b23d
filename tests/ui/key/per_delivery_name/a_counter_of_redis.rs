use idem::idempotent;

#[idempotent(key = "redis:<entry.id>:<entry.times_delivered>")]
async fn handle(entry: Entry) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&entry.id, &entry.times_delivered,)))
}

struct Entry {
    id: String,
    times_delivered: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

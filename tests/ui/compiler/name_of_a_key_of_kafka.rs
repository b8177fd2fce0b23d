use idem::idempotent;

#[idempotent(key = "kafka:<record.topic>:<record.key>")]
async fn handle(record: Record) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&record.topic, &record.key,)))
}

struct Record {
    topic: String,
    key: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

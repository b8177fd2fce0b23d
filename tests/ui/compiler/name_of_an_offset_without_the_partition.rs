use idem::idempotent;

#[idempotent(key = "kafka:<record.topic>:<record.offset>")]
async fn handle(record: Record) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&record.topic, &record.partition, &record.offset,)))
}

struct Record {
    topic: String,
    partition: i32,
    offset: i64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

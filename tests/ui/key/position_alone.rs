use idem::idempotent;

#[idempotent(key = "msg:<record.offset>")]
async fn handle(record: Record) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&record.partition, &record.offset,)))
}

struct Record {
    partition: i32,
    offset: i64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use idem::idempotent;

#[idempotent(key = "msg:<delivery.record.offset>")]
async fn handle(delivery: Delivery) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&delivery.record.partition, &delivery.record.offset,)))
}

struct Delivery {
    record: Record,
}

struct Record {
    partition: i32,
    offset: i64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

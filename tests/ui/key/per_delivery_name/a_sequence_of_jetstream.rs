use idem::idempotent;

#[idempotent(key = "js:<info.stream>:<info.consumer_sequence>")]
async fn handle(info: Info) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&info.stream, &info.consumer_sequence,)))
}

struct Info {
    stream: String,
    consumer_sequence: u64,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

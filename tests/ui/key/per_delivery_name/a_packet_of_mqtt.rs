use idem::idempotent;

#[idempotent(key = "mqtt:<publish.pkid>")]
async fn handle(publish: Publish) -> Result<(), idem::Error> {
    Ok(println!("{:?}", (&publish.pkid, &publish.topic,)))
}

struct Publish {
    pkid: u16,
    topic: String,
}

fn main() {
    let _ = handle; // still known: exactly one error above
}

use std::collections::HashMap;

use idem::idempotent;

const NATS_MESSAGE_ID: &str = "Nats-Msg-Id";

struct Message {
    id: String,
    retry_count: u32,
}

fn publish(headers: HashMap<&str, String>) -> anyhow::Result<()> {
    println!("{headers:?}");
    Ok(())
}

#[idempotent(key = "nats:<message.id>")]
fn again(message: Message) -> anyhow::Result<()> {
    let mut headers = HashMap::new();
    let n = message.retry_count + 1;
    headers.insert(NATS_MESSAGE_ID, format!("{}-r{n}", message.id));
    publish(headers)
}

fn main() {}

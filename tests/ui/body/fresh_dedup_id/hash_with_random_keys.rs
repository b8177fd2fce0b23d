use std::hash::{BuildHasher, RandomState};

use idem::idempotent;

struct Document {
    id: String,
    text: String,
}

struct Outgoing {
    message_deduplication_id: String,
}

fn send(message: Outgoing) -> anyhow::Result<()> {
    println!("{}", message.message_deduplication_id);
    Ok(())
}

#[idempotent(key = "document:<document.id>")]
fn announce(document: Document) -> anyhow::Result<()> {
    let hasher = RandomState::new();
    let hash = hasher.hash_one(&document.text);
    send(Outgoing { message_deduplication_id: hash.to_string() })
}

fn main() {}

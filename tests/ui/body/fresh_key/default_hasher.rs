use std::hash::{DefaultHasher, Hash, Hasher};

use idem::idempotent;

struct Item {
    id: String,
    json: serde_json::Value,
}

struct Upsert {
    idempotency_key: String,
}

fn upsert(request: Upsert) -> anyhow::Result<()> {
    println!("{}", request.idempotency_key);
    Ok(())
}

#[idempotent(key = "item:<item.id>")]
fn index(item: Item) -> anyhow::Result<()> {
    let mut hasher = DefaultHasher::new();
    item.json.to_string().hash(&mut hasher);
    let fingerprint = hasher.finish();
    upsert(Upsert { idempotency_key: format!("{fingerprint:016x}") })
}

fn main() {}

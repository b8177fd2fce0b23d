use idem::{RedisStore, idempotent};

#[idempotent(key = "msg:<id>", store = store, require = "durable")]
async fn charge(id: u32, store: &RedisStore) -> Result<u32, idem::Error> {
    Ok(id)
}

fn main() {
    let _ = charge;
}

use idem::{MemoryStore, idempotent};

#[idempotent(key = "order:<order>", store = store)]
fn charge(order: i64, store: &MemoryStore, connection: &rusqlite::Transaction) -> Result<i64, BoxError> {
    connection.execute("insert into charge values (?1)", [order])?;
    Ok(order)
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn main() {
    let _ = charge;
}

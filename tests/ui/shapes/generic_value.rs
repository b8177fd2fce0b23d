use idem::idempotent;

#[idempotent(scope = "cache.load", key = "order:<order>")]
async fn load<T>(order: u64, value: T) -> Result<T, idem::Error> {
    let _ = order;
    Ok(value)
}

fn main() {}

use idem::idempotent;

#[idempotent(key = "n:<n>")]
async fn charge((1, n): (u8, u64)) -> Result<u64, idem::Error> {
    Ok(n)
}

fn main() {}

use idem::idempotent;

#[idempotent(key = "charge:<amount>")]
async fn charge(amount: u64) -> Result<u64, idem::Error> {
    Ok(amount)
}

fn main() {
    let _ = charge(1); // still known: exactly one error above
}

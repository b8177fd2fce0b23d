use idem::idempotent;

#[idempotent(key = "order:<id>")]
async fn charge(order: u64, customer: u64) -> Result<u64, idem::Error> {
    Ok(order + customer)
}

fn main() {}

use idem::idempotent;

#[idempotent(key = "nightly-report")]
async fn report() -> Result<u64, idem::Error> {
    Ok(1)
}

fn main() {
    let _ = report();
}

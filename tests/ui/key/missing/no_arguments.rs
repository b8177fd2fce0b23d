use idem::idempotent;

#[idempotent(scope = "reports.nightly")]
async fn nightly_report() -> Result<u64, idem::Error> {
    Ok(1)
}

fn main() {
    let _ = nightly_report();
}

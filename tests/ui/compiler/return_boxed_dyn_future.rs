use idem::idempotent;

async fn inner(order: u64) -> Result<u64, idem::Error> {
    Ok(order)
}

#[idempotent(key = "order:<order>")]
fn charge(order: u64) -> Box<dyn Future<Output = Result<u64, idem::Error>>> {
    let work = inner(order);
    Box::new(work)
}

fn main() {
    let _ = charge(1);
}

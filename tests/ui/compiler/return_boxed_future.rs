use idem::idempotent;
use futures::future::BoxFuture;

async fn inner(order: u64) -> Result<u64, idem::Error> {
    Ok(order)
}

#[idempotent(key = "order:<order>")]
fn charge(order: u64) -> BoxFuture<'static, Result<u64, idem::Error>> {
    Box::pin(inner(order))
}

fn main() {
    let _ = charge(1);
}

use idem::idempotent;

#[idempotent(key = "order:<order>")]
async fn charge(order: u64) -> Result<impl Iterator<Item = u64>, idem::Error> {
    Ok((0..order).map(|n| n + 1))
}

fn main() {
    let _ = charge(1);
}

use idem::idempotent;

#[idempotent(key = "order:<order>", tx = self.tx)]
fn charge(order: u64) -> Result<u64, idem::Error> {
    Ok(order)
}

fn main() {
    let _ = charge(1);
}

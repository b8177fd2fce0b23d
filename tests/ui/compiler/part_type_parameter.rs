use idem::idempotent;

#[idempotent(scope = "billing.charge", key = "order:<order>")]
fn charge<Id>(order: Id) -> Result<u64, idem::Error> {
    let _ = order;
    Ok(1)
}

fn main() {
    let _ = charge(1_u64);
}

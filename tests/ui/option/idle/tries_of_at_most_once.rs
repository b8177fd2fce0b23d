use idem::idempotent;

#[idempotent(key = "order:<order>", mode = "at_most_once", max_tries = 3)]
async fn charge(order: u64) -> Result<u64, idem::Error> {
    Ok(order)
}

fn main() {
    let _ = charge(17);
}

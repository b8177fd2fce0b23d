use idem::idempotent;

mod tokio_postgres {
    pub struct Transaction<'a>(pub &'a mut u32);
}

#[idempotent(key = "order:<order>")]
async fn charge(order: u64, tx: &tokio_postgres::Transaction<'_>) -> Result<u64, idem::Error> {
    println!("{}", tx.0);
    Ok(order)
}

fn main() {
    let _ = charge;
}

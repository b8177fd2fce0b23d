use idem::idempotent;
use sqlx::{Sqlite, Transaction};

#[idempotent(key = "order:<order>")]
async fn charge(order: u64, tx: &mut Transaction<'_, Sqlite>) -> Result<u64, BoxError> {
    sqlx::query("insert into charge values (?1)").bind(i64::try_from(order)?).execute(&mut **tx).await?;
    Ok(order)
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn main() {
    let _ = charge;
}

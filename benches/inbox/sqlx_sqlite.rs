//! sqlx: the same order and balance in the same kind of file, each statement by way of the connection's own thread.

use std::path::Path;
use std::time::{Duration, Instant};

use idem::idempotent;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Sqlite, SqliteConnection, Transaction};

use super::ratio::{Ratios, Side};
use super::sqlite::{ROUNDS, TURN, check, directory, open, orders};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn work(order: &str, tx: &mut Transaction<'_, Sqlite>) -> Result<(), sqlx::Error> {
    sqlx::query("insert into orders (number, cents) values (?1, 1200)")
        .bind(order)
        .execute(&mut **tx)
        .await?;
    sqlx::query("update balance set cents = cents + 1200 where account = ?1")
        .bind(i64::try_from(order.len()).expect("a short number"))
        .execute(&mut **tx)
        .await?;
    Ok(())
}

#[idempotent(key = "order:<order>", tx = tx)]
async fn without_a_result(order: &str, tx: &mut Transaction<'_, Sqlite>) -> Result<(), BoxError> {
    Ok(work(order, tx).await?)
}

#[idempotent(key = "order:<order>", tx = tx)]
async fn with_a_result(order: &str, tx: &mut Transaction<'_, Sqlite>) -> Result<String, BoxError> {
    work(order, tx).await?;
    Ok(format!("receipt of {order}"))
}

pub(crate) fn run() {
    let dir = directory();
    let files = ["plain", "unit", "kept"].map(|side| dir.join(format!("{side}.db")));
    // Each with its tables; what was opened here is at rest while the others measure.
    let opened = files.each_ref().map(|file| open(file));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let task = runtime.spawn(measure(files));
    runtime.block_on(task).expect("no panic");
    check(opened.each_ref());
    let _ = std::fs::remove_dir_all(&dir);
}

async fn measure(files: [std::path::PathBuf; 3]) {
    let [plain, unit, kept] = &files;
    let (mut plain, mut unit, mut kept) = (connect(plain).await, connect(unit).await, connect(kept).await);
    let mut first = Ratios::of(&["without a record", "with one", "with one, and the result"]);
    let mut replays = Ratios::of(&["replay", "replay of a result"]);
    for round in 0..ROUNDS {
        let orders = orders(round);
        first.add(vec![
            each(&mut plain, &orders, Side::Plain).await,
            each(&mut unit, &orders, Side::Unit).await,
            each(&mut kept, &orders, Side::Kept).await,
        ]);
        replays.add(vec![
            each(&mut unit, &orders, Side::Unit).await,
            each(&mut kept, &orders, Side::Kept).await,
        ]);
    }
    first.print("SQLite by sqlx, one transaction at a time");
    replays.print("SQLite by sqlx, the same message again");
}

async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).synchronous(SqliteSynchronous::Full);
    options.connect().await.expect("a connection")
}

/// The time of one transaction.
async fn each(connection: &mut SqliteConnection, orders: &[String], side: Side) -> Duration {
    let began = Instant::now();
    for order in orders {
        let mut tx = connection.begin().await.expect("a transaction");
        match side {
            Side::Plain => work(order, &mut tx).await.expect("rows"),
            Side::Unit => without_a_result(order, &mut tx).await.expect("rows"),
            Side::Kept => drop(with_a_result(order, &mut tx).await.expect("rows")),
        }
        tx.commit().await.expect("a commit");
    }
    began.elapsed() / u32::try_from(TURN).expect("a small count")
}

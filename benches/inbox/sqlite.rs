//! rusqlite: an order and a balance, in write-ahead mode with `synchronous = full`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use idem::{SqliteStore, idempotent};
use rusqlite::{Connection, Transaction};

use super::ratio::Ratios;

pub(super) const ROUNDS: usize = 60;
/// Transactions in one turn of one side.
pub(super) const TURN: usize = 40;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn work(order: &str, tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.prepare_cached("insert into orders (number, cents) values (?1, 1200)")?.execute([order])?;
    tx.prepare_cached("update balance set cents = cents + 1200 where account = ?1")?
        .execute([i64::try_from(order.len()).expect("a short number")])?;
    Ok(())
}

#[idempotent(key = "order:<order>", tx = tx)]
fn without_a_result(order: &str, tx: &Transaction<'_>) -> Result<(), BoxError> {
    Ok(work(order, tx)?)
}

#[idempotent(key = "order:<order>", tx = tx)]
fn with_a_result(order: &str, tx: &Transaction<'_>) -> Result<String, BoxError> {
    work(order, tx)?;
    Ok(format!("receipt of {order}"))
}

pub(crate) fn run() {
    let dir = directory();
    let mut plain = open(&dir.join("plain.db"));
    let mut unit = open(&dir.join("unit.db"));
    let mut kept = open(&dir.join("kept.db"));

    let mut first = Ratios::of(&["without a record", "with one", "with one, and the result"]);
    let mut replays = Ratios::of(&["replay", "replay of a result"]);
    for round in 0..ROUNDS {
        let orders = orders(round);
        first.add(vec![
            each(&mut plain, &orders, |order, tx| work(order, tx).expect("rows")),
            each(&mut unit, &orders, |order, tx| without_a_result(order, tx).expect("rows")),
            each(&mut kept, &orders, |order, tx| drop(with_a_result(order, tx).expect("rows"))),
        ]);
        replays.add(vec![
            each(&mut unit, &orders, |order, tx| without_a_result(order, tx).expect("a replay")),
            each(&mut kept, &orders, |order, tx| drop(with_a_result(order, tx).expect("a replay"))),
        ]);
    }
    first.print("SQLite, one transaction at a time");
    replays.print("SQLite, the same message again");
    check([&plain, &unit, &kept]);
    let _ = std::fs::remove_dir_all(&dir);
}

/// Empty, for the files.
pub(super) fn directory() -> PathBuf {
    let dir = std::env::var_os("IDEM_BENCH_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/bench-inbox"),
        PathBuf::from,
    );
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the directory for the files");
    dir
}

/// The messages of one turn.
pub(super) fn orders(round: usize) -> Vec<String> {
    (0..TURN).map(|n| format!("{round:04}-{n:04}")).collect()
}

/// Each side has done its work once for each message.
pub(super) fn check(sides: [&Connection; 3]) {
    for side in sides {
        let rows: i64 =
            side.query_row("select count(*) from orders", [], |row| row.get(0)).expect("a number");
        assert_eq!(usize::try_from(rows), Ok(ROUNDS * TURN));
    }
}

pub(super) fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a file");
    connection
        .execute_batch(
            "pragma journal_mode = wal; pragma synchronous = full;
             create table orders (number text primary key, cents integer not null);
             create table balance (account integer primary key, cents integer not null);
             insert into balance values (9, 0);",
        )
        .expect("tables");
    SqliteStore::ensure_schema(&connection).expect("a table");
    connection
}

/// The time of one transaction.
fn each(
    connection: &mut Connection,
    orders: &[String],
    mut handle: impl FnMut(&str, &Transaction<'_>),
) -> Duration {
    let began = Instant::now();
    for order in orders {
        let tx = connection.transaction().expect("a transaction");
        handle(order, &tx);
        tx.commit().expect("a commit");
    }
    began.elapsed() / u32::try_from(orders.len()).expect("a small count")
}

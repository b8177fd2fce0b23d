//! sqlx: an order and a balance, on connections that are held, one at a time and 16 at once.

use std::time::{Duration, Instant};

use idem::{PostgresStore, idempotent};
use idem_servers::PostgresServer;
use sqlx::{Connection, PgConnection, Postgres, Transaction};

use super::ratio::{Ratios, Side};

const TURN: usize = 48;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn work(order: &str, account: i64, tx: &mut Transaction<'_, Postgres>) -> Result<(), sqlx::Error> {
    sqlx::query("insert into orders (number, cents) values ($1, 1200)")
        .bind(order)
        .execute(&mut **tx)
        .await?;
    sqlx::query("update balance set cents = cents + 1200 where account = $1")
        .bind(account)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

#[idempotent(key = "order:<order>", tx = tx)]
async fn without_a_result(
    order: &str,
    account: i64,
    tx: &mut Transaction<'_, Postgres>,
) -> Result<(), BoxError> {
    Ok(work(order, account, tx).await?)
}

#[idempotent(key = "order:<order>", tx = tx)]
async fn with_a_result(
    order: &str,
    account: i64,
    tx: &mut Transaction<'_, Postgres>,
) -> Result<String, BoxError> {
    work(order, account, tx).await?;
    Ok(format!("receipt of {order}"))
}

pub(crate) fn run() {
    let server = PostgresServer::start(&["fsync=on"]);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let url = server.url("postgres");
    runtime.block_on(async {
        PostgresStore::builder(url.as_str()).migrate().await.expect("a table");
        let mut connection = PgConnection::connect(&url).await.expect("a connection");
        sqlx::raw_sql(
            "create table orders (number text primary key, cents bigint not null);
             create table balance (account bigint primary key, cents bigint not null);
             insert into balance select n, 0 from generate_series(0, 99) as n;",
        )
        .execute(&mut connection)
        .await
        .expect("tables");
        for (crowd, rounds) in [(1, 60), (16, 40)] {
            measure(&url, crowd, rounds).await;
        }
    });
}

async fn measure(url: &str, crowd: usize, rounds: usize) {
    let mut connections = Vec::new();
    for _ in 0..crowd {
        connections.push(PgConnection::connect(url).await.expect("a connection"));
    }
    let mut first = Ratios::of(&["without a record", "with one", "with one, and the result"]);
    let mut replays = Ratios::of(&["replay", "replay of a result"]);
    for round in 0..rounds {
        let name = |side: &str| format!("{side}-{crowd}-{round:04}");
        let mut times = Vec::new();
        // Each side begins as often as the others: a checkpoint or another program hits whoever is at work.
        let sides = [(Side::Plain, "plain"), (Side::Unit, "unit"), (Side::Kept, "kept")];
        let mut round_times = [Duration::ZERO; 3];
        for turn in 0..3 {
            let at = (turn + round) % 3;
            let (side, of) = sides[at];
            round_times[at] = together(&mut connections, side, &name(of)).await;
        }
        times.extend(round_times);
        first.add(times);
        let unit = together(&mut connections, Side::Unit, &name("unit")).await;
        let kept = together(&mut connections, Side::Kept, &name("kept")).await;
        replays.add(vec![unit, kept]);
    }
    first.print(&format!("PostgreSQL, {crowd} connections"));
    replays.print(&format!("PostgreSQL, {crowd} connections, the same message again"));
}

/// All connections at once, each with its own orders: the time of one transaction, of all that ran.
async fn together(connections: &mut Vec<PgConnection>, side: Side, name: &str) -> Duration {
    let began = Instant::now();
    let tasks: Vec<_> = std::mem::take(connections)
        .into_iter()
        .enumerate()
        .map(|(at, mut connection)| {
            let name = name.to_owned();
            tokio::spawn(async move {
                for n in 0..TURN {
                    let order = format!("{name}-{at}-{n}");
                    let account = i64::try_from(at).expect("a small number");
                    let mut tx = connection.begin().await.expect("a transaction");
                    match side {
                        Side::Plain => work(&order, account, &mut tx).await.expect("rows"),
                        Side::Unit => without_a_result(&order, account, &mut tx).await.expect("rows"),
                        Side::Kept => drop(with_a_result(&order, account, &mut tx).await.expect("rows")),
                    }
                    tx.commit().await.expect("a commit");
                }
                connection
            })
        })
        .collect();
    let count = tasks.len() * TURN;
    for task in tasks {
        connections.push(task.await.expect("no panic"));
    }
    began.elapsed() / u32::try_from(count).expect("a small count")
}

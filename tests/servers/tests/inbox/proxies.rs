//! Behind a proxy that hands out a connection of the server's for each transaction.

use idem::{Outcome, PostgresStore, idempotent};
use idem_servers::PgBouncer;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, Row};

use crate::database::{database, execute, migrated, number, run, spawn, url};
use crate::ends::{ChargeError, End};
use crate::handlers::{Tx, note};
use crate::scene::{Scene, options};

/// As a handler there has to ask: nothing is kept that another transaction could need or meet.
async fn write(tx: Tx<'_>, message: &str) -> Result<(), sqlx::Error> {
    let insert = sqlx::query("insert into charge (message) values ($1)").bind(message.to_owned());
    insert.persistent(false).execute(&mut **tx).await.map(drop)
}

#[idempotent(key = "msg:<message>", tx = tx, on_duplicate = wait("20s"))]
async fn charge(message: &str, tx: Tx<'_>) -> Result<Outcome<String>, ChargeError> {
    write(tx, message).await?;
    Ok(format!("receipt of {message}").into())
}

#[idempotent(key = "msg:<message>", tx = tx, final_error = is_final)]
async fn decline(message: &str, tx: Tx<'_>) -> Result<(), ChargeError> {
    write(tx, message).await?;
    Err(ChargeError::Declined("never".to_owned()))
}

fn is_final(_: &ChargeError) -> bool {
    true
}

/// As a program connects to such a proxy.
fn through(bouncer: &PgBouncer) -> PgPool {
    let options: PgConnectOptions = bouncer.url().parse().expect("a URL");
    // The proxy refuses a setting of the session that it does not know.
    let options = options.statement_cache_capacity(0).extra_float_digits(None);
    run(async { PgPoolOptions::new().max_connections(8).connect_lazy_with(options) })
}

async fn deliver(pool: &PgPool, message: &str) -> Outcome<String> {
    let mut tx = pool.begin().await.expect("a transaction");
    let answer = charge(message, &mut tx).await.expect("an answer");
    tx.commit().await.expect("a commit");
    answer
}

async fn refuse(pool: &PgPool, message: &str) {
    let mut tx = pool.begin().await.expect("a transaction");
    let error = decline(message, &mut tx).await.expect_err("it declines");
    assert!(matches!(error, ChargeError::Declined(_)), "{error:?}");
    tx.commit().await.expect("a commit");
}

#[test]
#[cfg_attr(not(all(postgres_server, pgbouncer)), ignore = "needs PostgreSQL and PgBouncer")]
fn transactions_through_a_pooling_proxy_keep_their_records() {
    let url = database(&[]);
    let _ = migrated(PostgresStore::builder(url.as_str()));
    execute(&url, "create table charge (message text not null)");
    let bouncer = PgBouncer::before(&url);
    // Two processes, as it were, each with names of its own for what it prepares.
    let pools = [through(&bouncer), through(&bouncer)];
    run(async {
        let works: Vec<_> = (0..48)
            .map(|n| {
                let (one, other) = (pools[n % 2].clone(), pools[(n + 1) % 2].clone());
                spawn(async move {
                    let message = format!("message {n}");
                    let (first, second) = tokio::join!(deliver(&one, &message), deliver(&other, &message));
                    assert!(first.is_executed() != second.is_executed(), "{first:?} {second:?}");
                    assert_eq!(first.into_value(), second.into_value());
                    assert!(!deliver(&one, &message).await.is_executed());
                    refuse(&one, &format!("refused {n}")).await;
                    refuse(&other, &format!("refused {n}")).await;
                })
            })
            .collect();
        for work in works {
            work.await.expect("no panic");
        }
    });
    assert_eq!(number(&url, "select count(*) from charge"), 96);
    assert_eq!(number(&url, "select count(distinct message) from charge"), 96);
    assert_eq!(number(&url, "select count(*) from idem_record"), 96);
    // What others get next is as it was: all three are looked at.
    run(async {
        let mut held = Vec::new();
        for _ in 0..3 {
            let options: PgConnectOptions = bouncer.url().parse().expect("a URL");
            let mut other =
                PgConnection::connect_with(&options.extra_float_digits(None)).await.expect("a connection");
            let question = "begin; select concat_ws(' ', current_setting('lock_timeout'), (select count(*) from pg_prepared_statements))";
            let row = sqlx::raw_sql(question).fetch_one(&mut other).await.expect("a row");
            assert_eq!(row.get::<String, _>(0), "0 0");
            held.push(other);
        }
    });
}

/// Without a proxy, connections keep their statements, idem's too.
#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn statements_are_kept_where_connections_keep_statements() {
    let scene = Scene::new();
    let one = PgPoolOptions::new().max_connections(1);
    let pool = run(async { one.connect_lazy_with(options(&url(), &scene.schema)) });
    run(async {
        for message in ["a", "b", "c"] {
            let mut tx = pool.begin().await.expect("a transaction");
            note(message, End::Well, &mut tx).await.expect("an answer");
            tx.commit().await.expect("a commit");
        }
        // The handler's own, and idem's two.
        let connection = pool.acquire().await.expect("a connection");
        assert_eq!(connection.cached_statements_size(), 3);
    });
}

//! Proxies that hand out a connection of the server's for each transaction.

use std::time::Duration;

use idem::machine::{Recorded, Released, Verdict};
use idem::{PostgresStore, Store};
use idem_servers::PgBouncer;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Row};

use crate::asks::{again, claim, complete, ending, granted, judged, replayed};
use crate::database::{database, migrated, open, run};

/// What a session of the server's holds after `work` was done in it by a store that keeps no prepared statements.
fn left_behind(question: &'static str, work: impl FnOnce(&PostgresStore)) -> String {
    let url = database(&[]);
    let _ = migrated(PostgresStore::builder(url.as_str()));
    let options: PgConnectOptions = url.parse().expect("a URL");
    let options = options.statement_cache_capacity(0).disable_statement_logging();
    let pool = run(PgPoolOptions::new().max_connections(1).connect_with(options)).expect("a pool");
    let store = open(&PostgresStore::builder(pool.clone()).timeout(Duration::from_millis(4_321)));
    work(&store);
    let row = run(sqlx::raw_sql(question).fetch_one(&pool)).expect("a row");
    row.get::<String, _>(0)
}

fn each_operation(store: &PostgresStore) {
    let first = claim("first");
    let grant = granted(store, &first);
    assert!(matches!(judged(store, &again(&first)), Verdict::InProgress { tries: 1, .. }));
    assert_eq!(complete(store, &ending(&first, grant, b"done")), Recorded::Stored);
    assert_eq!(replayed(store, &first), b"done");
    let second = claim("second");
    granted(store, &second);
    let released = run(async { store.release(&second.id, &second.token).await });
    assert_eq!(released.expect("an answer"), Released::Released { tries: 1 });
    let many = [again(&second), claim("third")];
    let verdicts = run(async { store.claim_many(&many).await }).expect("verdicts");
    assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::Claimed(_))), "{verdicts:?}");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn without_a_statement_cache_no_statement_stays_prepared() {
    let left = left_behind("select count(*)::text from pg_prepared_statements", each_operation);
    assert_eq!(left, "0");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn without_a_statement_cache_no_setting_and_no_transaction_stays() {
    let question =
        "select concat_ws(' ', current_setting('statement_timeout'), current_setting('lock_timeout'),
                    current_setting('transaction_isolation'), now() = statement_timestamp())";
    assert_eq!(left_behind(question, each_operation), "0 0 read committed t");
}

/// The session's statements are dropped between any two operations, as if each went to another.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn without_a_statement_cache_each_operation_may_go_to_another_session() {
    let url = database(&[]);
    let _ = migrated(PostgresStore::builder(url.as_str()));
    let store = open(&PostgresStore::builder(format!("{url}?statement-cache-capacity=0")));
    each_operation(&store);
    let killed = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid()";
    let fourth = claim("fourth");
    let grant = granted(&store, &fourth);
    assert!(crate::database::number(&url, killed) > 0);
    assert_eq!(complete(&store, &ending(&fourth, grant, b"done")), Recorded::Stored);
    assert_eq!(replayed(&store, &fourth), b"done");
}

#[test]
#[cfg_attr(not(all(postgres_server, pgbouncer)), ignore = "postgres or pgbouncer is not on PATH")]
fn a_proxy_may_give_each_transaction_another_connection() {
    let url = database(&[("synchronous_commit", "off")]);
    let bouncer = PgBouncer::before(&url);
    let builder = migrated(PostgresStore::builder(bouncer.url()).timeout(Duration::from_secs(20)));
    // Two processes, as it were, each with names of its own for what it prepares.
    let stores = [open(&builder), open(&builder)];
    run(async {
        let works: Vec<_> = (0..64)
            .map(|n| {
                let (one, other) = (stores[n % 2].clone(), stores[(n + 1) % 2].clone());
                tokio::spawn(async move {
                    let first = claim(&format!("key {n}"));
                    let grant = match one.claim(&first).await.expect("a verdict") {
                        Verdict::Claimed(grant) => grant,
                        other => panic!("not granted: {other:?}"),
                    };
                    let verdict = other.claim(&again(&first)).await.expect("a verdict");
                    assert!(matches!(verdict, Verdict::InProgress { tries: 1, .. }), "{verdict:?}");
                    let recorded = one.complete(&ending(&first, grant, b"done")).await;
                    assert_eq!(recorded.expect("an answer"), Recorded::Stored);
                    let verdict = other.claim(&again(&first)).await.expect("a verdict");
                    assert!(matches!(verdict, Verdict::Completed { body: Some(_), .. }), "{verdict:?}");
                })
            })
            .collect();
        for work in works {
            work.await.expect("no panic");
        }
    });
    // What others get next is as it was: all three are looked at.
    let options: PgConnectOptions = bouncer.url().parse().expect("a URL");
    let options = options.extra_float_digits(None).disable_statement_logging();
    run(async {
        let mut held = Vec::new();
        for _ in 0..3 {
            let mut connection = options.connect().await.expect("a connection");
            let question = "begin; select concat_ws(' ', current_setting('statement_timeout'), current_setting('synchronous_commit'),
                            (select count(*) from pg_prepared_statements))";
            let row = sqlx::raw_sql(question).fetch_one(&mut connection).await.expect("a row");
            assert_eq!(row.get::<String, _>(0), "0 off 0");
            held.push(connection);
        }
    });
}

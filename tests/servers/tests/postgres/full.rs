//! A disk without a byte left: not as a trigger tells it, but as the system does.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};

use idem::machine::{Claim, Recorded, Verdict};
use idem::{Error, ErrorKind, Handler, Idempotent, Key, Outcome, PostgresStore, StoreErrorKind};
use idem_servers::PostgresServer;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::asks::{again, ask, claim, complete, ending, granted, judged, replayed};
use crate::database::{Other, execute, migrated, open, run};

/// A store whose table is on the small disk.
fn on_small_disk() -> (PostgresServer, String, PostgresStore) {
    let server = PostgresServer::with_small_disk(24);
    let url = server.url("postgres");
    execute(&url, &server.small_tablespace());
    let builder = migrated(PostgresStore::builder(url.as_str()).without_sweeping());
    execute(
        &url,
        "alter table idem_record set tablespace small;
         alter index idem_record_pkey set tablespace small;
         create table filler (t text) tablespace small;
         alter table filler alter column t set storage plain",
    );
    let store = open(&builder);
    (server, url, store)
}

/// Takes the disk to its last page.
async fn fill(connection: &mut PgConnection) {
    for rows in [1_000, 100, 10, 1] {
        let insert = format!("insert into filler select repeat('x', 7000) from generate_series(1, {rows})");
        let full = loop {
            if let Err(error) = sqlx::raw_sql(AssertSqlSafe(insert.clone())).execute(&mut *connection).await {
                break error;
            }
        };
        let code = full.as_database_error().and_then(|error| error.code().map(Cow::into_owned));
        assert_eq!(code.as_deref(), Some("53100"), "{full}");
    }
}

/// Claims until one is refused: pages that the table has already are of use for a while.
fn until_refused(store: &PostgresStore) -> (Vec<Claim>, Claim, idem::StoreError) {
    let mut held = Vec::new();
    loop {
        let next = claim(&format!("message {}", held.len()));
        match ask(store, &next) {
            Ok(Verdict::Claimed(_)) => held.push(next),
            Ok(other) => panic!("not granted: {other:?}"),
            Err(error) => return (held, next, error),
        }
        assert!(held.len() < 10_000, "the disk is not full");
    }
}

#[test]
#[cfg_attr(
    not(all(postgres_server, small_disk)),
    ignore = "needs PostgreSQL, and a system that lets a test mount a disk of its own"
)]
fn on_a_full_disk_claims_are_refused_and_nothing_is_lost() {
    let (_server, url, store) = on_small_disk();
    let (done, working) = (claim("done"), claim("working"));
    let grant = granted(&store, &done);
    assert_eq!(complete(&store, &ending(&done, grant, b"done")), Recorded::Stored);
    let working_grant = granted(&store, &working);
    run(async { fill(&mut PgConnection::connect(&url).await.expect("a connection")).await });

    let (held, refused, error) = until_refused(&store);
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    for words in [
        "Postgres store",
        "table \"idem_record\"",
        "cannot claim",
        "disk is full",
        "make room there",
        "53100",
    ] {
        assert!(error.to_string().contains(words), "{words:?} is missing in: {error}");
    }
    // No body runs.
    let runs = AtomicU32::new(0);
    let work = Idempotent::new(&store, Handler::new("tests.full"));
    let key = Key::trusted("msg:1", "a test's only message").expect("a key");
    let answer = run(work.run(&key, || async { Ok::<_, Error>(runs.fetch_add(1, Ordering::Relaxed)) }));
    assert_eq!(answer.expect_err("no room for a claim").kind(), ErrorKind::Full);
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // What is known is known, and what is held is held.
    assert_eq!(replayed(&store, &done), b"done");
    for claim in held.iter().chain([&working]) {
        assert!(matches!(judged(&store, &again(claim)), Verdict::InProgress { tries: 1, .. }));
    }
    // A result that needs a page of its own is refused too, and may be sent again.
    let result = ending(&working, working_grant, &incompressible(100_000));
    let error =
        run(async { idem::Store::complete(&store, &result).await }).expect_err("no room for a result");
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    assert!(error.to_string().contains("cannot record a result"), "{error}");
    assert!(matches!(judged(&store, &again(&working)), Verdict::InProgress { tries: 1, .. }));

    execute(&url, "drop table filler");
    assert_eq!(complete(&store, &result), Recorded::Stored);
    assert_eq!(replayed(&store, &working), result.body.to_vec());
    assert_eq!(granted(&store, &refused).tries, 1);
    let answer = run(work.run(&key, || async { Ok::<_, Error>(runs.fetch_add(1, Ordering::Relaxed)) }));
    assert!(answer.expect("an outcome").is_executed());
    assert_eq!(runs.into_inner(), 1);
}

#[test]
#[cfg_attr(
    not(all(postgres_server, small_disk)),
    ignore = "needs PostgreSQL, and a system that lets a test mount a disk of its own"
)]
fn a_disk_that_fills_up_while_the_body_runs_takes_no_success_back() {
    let (_server, url, store) = on_small_disk();
    let work = Idempotent::new(&store, Handler::new("tests.fills_up"));
    let key = Key::trusted("msg:1", "a test's only message").expect("a key");
    // As text it is within what is kept, and needs pages of its own.
    let result: String = incompressible(40_000).iter().map(|byte| char::from(b'a' + byte % 26)).collect();
    let outcome = run(work.run(&key, || async {
        fill(&mut PgConnection::connect(&url).await.expect("a connection")).await;
        Ok::<_, Error>(result.clone())
    }));
    let outcome = outcome.expect("the body's own");
    assert!(
        matches!(&outcome, Outcome::Executed { value, recorded: false } if *value == result),
        "it was recorded"
    );
    Other::at(&url).does("drop table filler");
    // It is held until its lease ends, and then runs again: that it is not recorded was said.
    let again = run(work.run(&key, || async { Ok::<_, Error>(String::new()) }));
    assert_eq!(again.expect_err("it is held").kind(), ErrorKind::InProgress);
}

/// Bytes that PostgreSQL cannot make smaller.
fn incompressible(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

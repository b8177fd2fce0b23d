//! Servers that are killed, paused, and replaced.

use std::time::Duration;

use idem::machine::{Claim, OnLapse, Recorded, Verdict};
use idem::{PostgresStore, Store, StoreErrorKind};
use idem_servers::{PostgresServer, Proxy};

use crate::asks::{again, ask, claim, complete, ending, granted, judged, replayed};
use crate::database::{database, execute, migrated, number, open, run, wait_for};

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_server_that_is_killed_between_claim_and_completion_loses_nothing() {
    let mut server = PostgresServer::start(&[]);
    let store = open(&migrated(PostgresStore::builder(server.url("postgres"))));
    let (held, done) = (claim("held"), claim("done"));
    let (on_hold, grant) = (granted(&store, &held), granted(&store, &done));
    assert_eq!(complete(&store, &ending(&done, grant, b"done")), Recorded::Stored);
    server.kill();
    let end = ending(&held, on_hold, b"late");
    let error = run(async { store.complete(&end).await }).expect_err("nobody answers");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    server.restart();
    assert!(matches!(judged(&store, &again(&held)), Verdict::InProgress { tries: 1, .. }));
    assert_eq!(complete(&store, &end), Recorded::Stored);
    assert_eq!(replayed(&store, &held), b"late");
    assert_eq!(replayed(&store, &done), b"done");
}

/// With relaxed claims, what was claimed just before may be gone: results are not, nor are claims that must survive.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_killed_server_takes_relaxed_claims_alone() {
    // Nothing is written to the disk unless somebody waits for it.
    let mut server = PostgresServer::start(&["wal_writer_delay=10s"]);
    let store = open(&migrated(PostgresStore::builder(server.url("postgres"))).relaxed_claims());
    let finished = claim("finished");
    let grant = granted(&store, &finished);
    assert_eq!(complete(&store, &ending(&finished, grant, b"done")), Recorded::Stored);
    let parked = Claim { on_lapse: OnLapse::Park, ..claim("parked") };
    granted(&store, &parked);
    let durable = Claim { durable: true, ..claim("at most once") };
    granted(&store, &durable);
    let relaxed = claim("relaxed");
    let grant = granted(&store, &relaxed);
    server.kill();
    server.restart();
    assert_eq!(replayed(&store, &finished), b"done");
    assert!(matches!(judged(&store, &again(&parked)), Verdict::InProgress { tries: 1, .. }));
    assert!(matches!(judged(&store, &again(&durable)), Verdict::InProgress { tries: 1, .. }));
    // It was lost, and its attempt's success is kept all the same.
    assert_eq!(complete(&store, &ending(&relaxed, grant, b"kept")), Recorded::Recreated);
    assert_eq!(replayed(&store, &relaxed), b"kept");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_paused_server_is_unavailable_and_its_answer_is_still_good() {
    let server = PostgresServer::start(&[]);
    let builder = migrated(PostgresStore::builder(server.url("postgres")));
    let store = open(&builder.timeout(Duration::from_millis(500)));
    granted(&store, &claim("one to open a connection"));
    server.pause();
    let first = claim("paused");
    let error = ask(&store, &first).expect_err("nobody answers");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    server.go_on();
    // It had heard the claim, or had not: the same token gets the same grant.
    let grant = granted(&store, &first);
    assert_eq!(grant.tries, 1);
    assert_eq!(complete(&store, &ending(&first, grant, b"done")), Recorded::Stored);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f50_a_replica_is_refused_and_a_failover_that_loses_the_newest_commits_is_seen() {
    let primary = PostgresServer::start(&["max_wal_senders=4"]);
    let link = Proxy::to(primary.port());
    let replica = primary.replica_through(link.port());
    let builder = migrated(PostgresStore::builder(primary.url("postgres")));
    let followed = "select count(*) from pg_class where relname = 'idem_record'";
    wait_for(&replica.url("postgres"), followed, 1);

    let refused = run(PostgresStore::builder(replica.url("postgres")).open());
    let error = refused.expect_err("a replica is no place for decisions");
    assert_eq!(error.kind(), StoreErrorKind::ReadOnly);
    assert!(error.to_string().contains("connect to the primary"), "{error}");

    // Both are one name to the store, as after a failover.
    let name = Proxy::to(primary.port());
    let store =
        open(&PostgresStore::builder(format!("postgres://postgres@127.0.0.1:{}/postgres", name.port())));
    let (kept, lost) = (claim("kept"), claim("lost"));
    let grant = granted(&store, &kept);
    assert_eq!(complete(&store, &ending(&kept, grant, b"kept")), Recorded::Stored);
    wait_for(&replica.url("postgres"), "select count(*) from idem_record where st = 2", 1);
    link.swallow();
    let grant = granted(&store, &lost);
    // While it follows, it is no primary, whatever its name.
    name.redirect(replica.port());
    name.cut_once();
    let error = ask(&store, &again(&lost)).expect_err("a replica does not decide");
    // For now: one of them will be a primary, and results of work that was done wait for it.
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(error.to_string().contains("connect to the primary"), "{error}");
    let looked = run(async { store.inspect(&lost.id).await });
    assert_eq!(looked.expect_err("a replica does not know").kind(), StoreErrorKind::Unavailable);
    primary.kill();
    replica.promote();
    assert_eq!(number(&replica.url("postgres"), "select count(*) from idem_record"), 1);

    // The claim did not arrive, so another may run; the first one's success is kept, and is visible as recreated.
    assert_eq!(complete(&store, &ending(&lost, grant, b"lost")), Recorded::Recreated);
    assert_eq!(replayed(&store, &lost), b"lost");
    assert_eq!(replayed(&store, &kept), b"kept");
    drop(builder);
}

/// A switch-over takes seconds: the driver goes on sending the result of a body that ran meanwhile, if the error says that this helps.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f50_a_server_that_only_reads_for_a_while_is_unavailable_and_gets_the_result_later() {
    let url = database(&[]);
    let store = open(&migrated(PostgresStore::builder(url.as_str())));
    let name = url.rsplit_once('/').expect("a URL with a database").1.to_owned();
    let read_only = |on: &str| {
        let set = format!("alter database {name} set default_transaction_read_only = {on}");
        execute(&url, &format!("begin read write; {set}; commit"));
        let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                   where datname = current_database() and pid <> pg_backend_pid()";
        number(&url, end);
    };
    let first = claim("done meanwhile");
    let grant = granted(&store, &first);
    read_only("on");
    let end = ending(&first, grant, b"done");
    let error = run(async { store.complete(&end).await }).expect_err("it only reads");
    assert!(error.is_transient(), "{error}");
    read_only("off");
    assert_eq!(complete(&store, &end), Recorded::Stored);
}

//! A network that loses what the server says.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use idem::machine::{Forgotten, Recorded, Verdict};
use idem::{Error, ErrorKind, Handler, Idempotent, Key, PostgresStore, Store, StoreErrorKind};
use idem_servers::Proxy;

use crate::asks::{again, ask, claim, complete, ending, granted, judged, replayed};
use crate::database::{Other, database, migrated, number, open, run};

/// A store behind a proxy, in a database of its own, and that database's URL.
fn behind_a_proxy(timeout: Duration) -> (PostgresStore, Proxy, String) {
    let direct = database(&[]);
    let _ = migrated(PostgresStore::builder(direct.as_str()));
    let (server, name) = direct.rsplit_once('/').expect("a URL with a database");
    let port = server.rsplit_once(':').expect("a URL with a port").1.parse().expect("a port");
    let proxy = Proxy::to(port);
    let through = format!("postgres://postgres@127.0.0.1:{}/{name}", proxy.port());
    (open(&PostgresStore::builder(through).timeout(timeout)), proxy, direct)
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(400);

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f02_a_claim_whose_reply_is_lost_is_granted_once_and_runs_at_once() {
    let (store, proxy, _) = behind_a_proxy(LONG);
    let first = claim("lost reply");
    proxy.lose_reply_to(first.id.as_bytes());
    let grant = granted(&store, &first);
    proxy.wait_until_lost(1);
    assert_eq!((grant.tries, grant.resumed), (1, true));
    assert!(matches!(judged(&store, &again(&first)), Verdict::InProgress { tries: 1, .. }));

    // Lost on new connections too, the store gives up, and its caller sends the same claim again.
    let second = claim("lost replies");
    proxy.lose_replies_to(second.id.as_bytes(), 2);
    let error = ask(&store, &second).expect_err("no answer is no verdict");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let grant = granted(&store, &second);
    assert_eq!((grant.tries, grant.resumed), (1, true));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f02_the_body_of_a_claim_whose_replies_are_lost_runs_once() {
    let (store, proxy, _) = behind_a_proxy(LONG);
    let work = Idempotent::new(&store, Handler::new("tests.lost_claim"));
    let key = Key::trusted("msg:1", "a test's only message").expect("a key");
    granted(&store, &claim("one to open a connection"));
    // Any request: the claim of the handler's is the next.
    proxy.lose_replies_to(b"", 2);
    let runs = AtomicU32::new(0);
    let outcome = run(work.run(&key, || async {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Error>(17)
    }));
    assert!(outcome.expect("an outcome").is_executed());
    proxy.wait_until_lost(2);
    assert_eq!(runs.into_inner(), 1);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f22_a_completion_whose_reply_is_lost_is_stored_once() {
    let (store, proxy, _) = behind_a_proxy(LONG);
    let first = claim("lost reply");
    let grant = granted(&store, &first);
    proxy.lose_reply_to(first.token.as_bytes());
    assert_eq!(complete(&store, &ending(&first, grant, b"done")), Recorded::Stored);
    proxy.wait_until_lost(1);
    assert_eq!(replayed(&store, &first), b"done");
}

/// Sent again, it would delete what another caller has claimed and recorded meanwhile.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f22_a_deletion_whose_reply_is_lost_is_not_sent_again() {
    let (store, proxy, direct) = behind_a_proxy(LONG);
    let first = claim("lost reply");
    let grant = granted(&store, &first);
    assert_eq!(complete(&store, &ending(&first, grant, b"done")), Recorded::Stored);
    proxy.lose_reply_to(first.id.as_bytes());
    let error = store.forget(&first.id, false).wait().expect_err("an outcome that nobody knows");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    proxy.wait_until_lost(1);
    assert_eq!(number(&direct, "select count(*) from idem_record"), 0);

    let again = granted(&store, &again(&first));
    assert!(again.fence > grant.fence && !again.resumed);
    assert!(matches!(store.forget(&first.id, true).wait(), Ok(Forgotten::Forgotten(_))));
    assert!(matches!(store.forget(&first.id, true).wait(), Ok(Forgotten::Absent)));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f24_a_server_that_cannot_be_reached_is_an_error_and_runs_nothing() {
    let (store, proxy, _) = behind_a_proxy(SHORT);
    let work = Idempotent::new(&store, Handler::new("tests.unreachable"));
    let key = Key::trusted("msg:1", "a test's only message").expect("a key");
    let runs = AtomicU32::new(0);
    let body = || async {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Error>(17)
    };
    for fails in [Proxy::cut, Proxy::swallow] {
        fails(&proxy);
        let error = run(work.run(&key, body)).expect_err("nobody answers");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("idem_record"), "{error}");
        assert!(matches!(error.disposition(), idem::Disposition::RetryAfter(_)));
        assert_eq!(runs.load(Ordering::Relaxed), 0);
    }
    proxy.pass();
    // Well again, it recovers alone.
    assert!(run(work.run(&key, body)).expect("an outcome").is_executed());
    assert_eq!(runs.into_inner(), 1);
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f23_a_result_that_could_not_be_recorded_in_time_is_recorded_when_the_server_is_back() {
    let (store, proxy, _) = behind_a_proxy(SHORT);
    let first = claim("recorded late");
    let grant = granted(&store, &first);
    proxy.swallow();
    let end = ending(&first, grant, b"done");
    let error = run(async { store.complete(&end).await }).expect_err("nobody answers");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(error.to_string().contains("unknown"), "{error}");
    proxy.pass();
    assert_eq!(complete(&store, &end), Recorded::Stored);
    assert_eq!(replayed(&store, &first), b"done");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f33_a_claim_that_is_dropped_at_any_point_leaves_no_transaction_and_no_half() {
    let (store, _proxy, direct) = behind_a_proxy(LONG);
    for polls in 0..12 {
        for n in 0..4 {
            let first = claim(&format!("dropped after {polls} polls, {n}"));
            let mut reply = store.claim(&first);
            run(async {
                for _ in 0..polls {
                    if futures::poll!(&mut reply).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            });
            drop(reply);
            // The attempt can go on, granted before or not.
            let grant = granted(&store, &first);
            assert_eq!(grant.tries, 1);
            assert_eq!(complete(&store, &ending(&first, grant, b"done")), Recorded::Stored);
        }
    }
    let open = "select count(*) from pg_stat_activity
                where datname = current_database() and state like 'idle in transaction%'";
    assert_eq!(number(&direct, open), 0);
}

/// Nobody waits for the statement any more, neither here nor there, and its connection is not used again.
#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn f33_a_claim_that_is_given_up_leaves_no_transaction() {
    let (store, _proxy, direct) = behind_a_proxy(SHORT);
    let first = claim("locked");
    granted(&store, &first);
    let mut other = Other::at(&direct);
    other.does("begin; select from idem_record for update");
    // A lapsed or released record is what a claim waits for.
    let released = run(async { store.release(&first.id, &first.token).await });
    let error = released.expect_err("another session has the row");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(error.to_string().contains("locked"), "{error}");
    other.does("rollback");
    let others = "select count(*) from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'";
    crate::database::wait_for(&direct, others, 0);
    assert!(matches!(judged(&store, &again(&first)), Verdict::InProgress { tries: 1, .. }));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn a_connection_that_died_while_idle_is_noticed_and_replaced() {
    let (store, proxy, direct) = behind_a_proxy(LONG);
    granted(&store, &claim("before"));
    proxy.cut_once();
    granted(&store, &claim("after a cut"));
    let killed = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid()";
    assert!(number(&direct, killed) > 0);
    granted(&store, &claim("after the server ended the session"));
    // The table was rebuilt: statements that were prepared before know it as it was.
    Other::at(&direct).does("alter table idem_record add column note text");
    granted(&store, &claim("after a change of the table"));
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "postgres is not on PATH")]
fn more_operations_than_connections_take_turns() {
    let builder = crate::database::fresh().max_connections(2);
    let store = open(&builder);
    run(async {
        let claims: Vec<_> = (0..200).map(|n| claim(&format!("key {n}"))).collect();
        let tasks: Vec<_> = claims
            .into_iter()
            .map(|claim| {
                let store = store.clone();
                tokio::spawn(async move { store.claim(&claim).await })
            })
            .collect();
        for task in tasks {
            assert!(matches!(task.await.expect("no panic"), Ok(Verdict::Claimed(_))));
        }
    });
}

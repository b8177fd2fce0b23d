//! An application that keeps its own tables in the same file, and several processes (F51).

use std::error::Error as _;
use std::path::Path;
use std::time::{Duration, Instant};

use idem_core::machine::{Recorded, StateKind, Verdict};
use idem_core::{SqliteStore, Store, StoreErrorKind};
use rusqlite::{Connection, ErrorCode};

use crate::asks::{Dir, claim, completion, granted, id, replayed};
use crate::processes::{Actor, RACE};

/// Orders that the neighbour writes while the others race.
const ORDERS: usize = 150;

/// The neighbour's file, as it would make it.
fn application(dir: &Dir) -> Connection {
    let connection = Connection::open(dir.file()).unwrap();
    connection
        .execute_batch(
            "pragma journal_mode = wal; create table orders (id integer primary key, after integer)",
        )
        .unwrap();
    connection
}

fn guest(file: &Path, busy_timeout: Duration) -> SqliteStore {
    SqliteStore::builder(file).beside_other_tables().busy_timeout(busy_timeout).open().unwrap()
}

/// A transaction that looks before it writes: it begins with a read lock alone.
fn looks_then_writes(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("begin deferred")?;
    let last: i64 = connection.query_row("select count(*) from orders", [], |row| row.get(0))?;
    connection.execute("insert into orders (after) values (?1)", [last])?;
    connection.execute_batch("commit")
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// One process of six: claims every key, and completes what it is granted.
pub(crate) fn races(file: &Path, ready: &dyn Fn()) -> String {
    let store = guest(file, Duration::from_secs(120));
    ready();
    let mine = (0..RACE).filter(|key| {
        let claim = claim(&format!("key {key}"));
        match store.claim(&claim).wait().unwrap() {
            Verdict::Claimed(grant) => {
                assert_eq!((grant.tries, grant.resumed), (1, false));
                let body = key.to_string();
                let recorded = store.complete(&completion(&claim, grant, body.as_bytes())).wait();
                assert_eq!(recorded.unwrap(), Recorded::Stored);
                true
            }
            Verdict::InProgress { tries: 1, .. } | Verdict::Completed { body: Some(_), .. } => false,
            other => panic!("{other:?}"),
        }
    });
    mine.map(|key| key.to_string()).collect::<Vec<_>>().join(" ")
}

/// The application's own process: its transactions are refused now and then, and it begins them anew.
pub(crate) fn orders(file: &Path, ready: &dyn Fn()) -> String {
    let connection = Connection::open(file).unwrap();
    connection.busy_timeout(Duration::from_secs(120)).unwrap();
    ready();
    let mut refused = 0;
    for _ in 0..ORDERS {
        while let Err(error) = looks_then_writes(&connection) {
            assert!(is_busy(&error), "{error}");
            connection.execute_batch("rollback").unwrap();
            refused += 1;
        }
    }
    format!("refused {refused} times")
}

#[test]
fn f51_six_processes_beside_an_application_get_each_key_once_and_every_order_is_kept() {
    let dir = Dir::new();
    let application = application(&dir);
    let mut actors: Vec<_> = (0..6).map(|_| Actor::start("race as guests", &dir.file())).collect();
    actors.push(Actor::start("take orders", &dir.file()));
    for actor in &mut actors {
        assert_eq!(actor.hears(), "ready");
    }
    actors.iter_mut().for_each(Actor::tell);
    let mut neighbour = actors.pop().unwrap();
    let mut keys: Vec<usize> = Vec::new();
    for mut actor in actors {
        keys.extend(actor.hears().split_whitespace().map(|key| key.parse::<usize>().unwrap()));
        actor.ends_well();
    }
    assert!(neighbour.hears().starts_with("refused "));
    neighbour.ends_well();

    keys.sort_unstable();
    assert_eq!(keys, (0..RACE).collect::<Vec<_>>());
    let number = |statement| {
        let found: i64 = application.query_row(statement, [], |row| row.get(0)).unwrap();
        usize::try_from(found).unwrap()
    };
    assert_eq!(number("select count(*) from idem_record where st = 2 and tries = 1"), RACE);
    assert_eq!(number("select count(*) from idem_record"), RACE);
    // Each saw all before it: none was written on a look that had grown old.
    assert_eq!(number("select count(*) from orders where after = id - 1"), ORDERS);
    let sound: String = application.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let store = guest(&dir.file(), Duration::from_secs(5));
    for key in 0..RACE {
        let body = replayed(store.claim(&claim(&format!("key {key}"))).wait());
        assert_eq!(body, key.to_string().into_bytes());
    }
}

/// A look is no lock, and what was begun with one is refused by SQLite once we have written: the neighbour's transaction, never ours.
#[test]
fn f51_an_application_that_only_looked_so_far_keeps_nobody_waiting() {
    let dir = Dir::new();
    let application = application(&dir);
    let store = guest(&dir.file(), Duration::ZERO);
    application.execute_batch("begin deferred; select count(*) from orders").unwrap();
    let claim = claim("key");
    let grant = granted(store.claim(&claim).wait());
    assert_eq!(store.complete(&completion(&claim, grant, b"done")).wait().unwrap(), Recorded::Stored);

    let late = application.execute("insert into orders (after) values (0)", []).unwrap_err();
    assert!(is_busy(&late), "{late}");
    application.execute_batch("rollback").unwrap();
    looks_then_writes(&application).unwrap();
    assert_eq!(replayed(store.claim(&crate::asks::claim("key")).wait()), b"done");
}

#[test]
fn f51_a_claim_waits_as_long_as_busy_timeout_and_then_says_who_was_in_the_way() {
    let dir = Dir::new();
    let application = application(&dir);
    let timeout = Duration::from_millis(300);
    let store = guest(&dir.file(), timeout);
    let held = claim("held");
    let grant = granted(store.claim(&held).wait());

    // Begun as a look, it goes on to write.
    let order = "begin deferred; select count(*) from orders; insert into orders (after) values (0)";
    application.execute_batch(order).unwrap();
    let new = claim("new");
    let end = completion(&held, grant, b"done");
    let asked = Instant::now();
    let errors = [
        store.claim(&new).wait().unwrap_err(),
        store.complete(&end).wait().unwrap_err(),
        store.release(&held.id, &held.token).wait().unwrap_err(),
    ];
    let waited = asked.elapsed();
    assert!(waited >= timeout * 3, "all three waited: {waited:?}");
    assert!(
        waited < Duration::from_secs(15),
        "and none for the 5 s of a store that was told nothing: {waited:?}"
    );
    for error in &errors {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.is_transient());
        assert!(error.to_string().contains("another connection holds its lock"), "{error}");
        let cause = error.source().and_then(|cause| cause.downcast_ref::<rusqlite::Error>());
        assert!(cause.is_some_and(is_busy), "{cause:?}");
    }

    // Nothing is half done: the record is as it was, and all can be sent again.
    assert_eq!(store.inspect(&id("new")).wait().unwrap(), None);
    assert_eq!(store.inspect(&id("held")).wait().unwrap().unwrap().state, StateKind::Held);
    application.execute_batch("commit").unwrap();
    let grant = granted(store.claim(&new).wait());
    assert_eq!((grant.tries, grant.resumed), (1, false));
    assert_eq!(store.complete(&end).wait().unwrap(), Recorded::Stored);
    let orders: i64 = application.query_row("select count(*) from orders", [], |row| row.get(0)).unwrap();
    assert_eq!(orders, 1);
}

/// Between its transactions a store keeps what the next one needs, which would be in the way; but not for long.
#[test]
fn the_log_of_a_store_that_has_nothing_to_do_can_be_cut_by_hand() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let hand = Connection::open(dir.file()).unwrap();
    hand.busy_timeout(Duration::from_secs(60)).unwrap();
    for round in 0..3 {
        for key in 0..3 {
            let claim = claim(&format!("key {round} {key}"));
            let grant = granted(store.claim(&claim).wait());
            assert_eq!(store.complete(&completion(&claim, grant, b"")).wait().unwrap(), Recorded::Stored);
        }
        let busy: i64 = hand.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0)).unwrap();
        assert_eq!(busy, 0, "round {round}");
    }
}

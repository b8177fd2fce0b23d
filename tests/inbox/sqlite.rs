//! What commits in SQLite, what does not, and what is answered afterwards.

use std::time::Duration;

use idem::{
    ErrorKind, Handler, Idempotent, Inbox, Key, ManualClock, Outcome, SqliteStore, Store, StoreErrorKind,
};
use rusqlite::{Connection, TransactionBehavior};

use crate::ends::{ChargeError, End};
use crate::files::{File, charge, elsewhere, note, write};

#[test]
fn the_record_commits_with_the_rows_and_is_replayed() {
    let file = File::new();
    let mut connection = file.open();
    for delivery in 0..3 {
        let tx = connection.transaction().unwrap();
        let charged = charge("a", End::Well, &tx).unwrap();
        note("a", End::Well, &tx).unwrap();
        tx.commit().unwrap();
        assert_eq!(charged.is_executed(), delivery == 0, "{charged:?}");
        assert_eq!(charged.value(), "receipt of msg:a");
    }
    assert_eq!((file.charges("a"), file.records()), (2, 2));
}

#[test]
fn what_is_rolled_back_leaves_neither_a_row_nor_a_record() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    charge("a", End::Well, &tx).unwrap();
    drop(tx);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let tx = connection.transaction().unwrap();
        let inbox = Inbox::new(Handler::new("tests.panic"));
        inbox.run_blocking(&tx, &Key::trusted("msg:a", "a test").unwrap(), || -> Result<(), idem::Error> {
            write(&tx, "a").unwrap();
            panic!("on purpose")
        })
    }));
    assert!(caught.is_err());
    assert_eq!((file.charges("a"), file.records()), (0, 0));
}

#[test]
fn after_an_error_nothing_is_remembered_even_if_the_caller_commits() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    charge("a", End::Badly, &tx).unwrap_err();
    note("a", End::Badly, &tx).unwrap_err();
    tx.commit().unwrap();
    // The caller's own decision, against all advice.
    assert_eq!((file.charges("a"), file.records()), (2, 0));
    let tx = connection.transaction().unwrap();
    assert!(charge("a", End::Well, &tx).unwrap().is_executed());
}

#[test]
fn an_error_worth_remembering_is_remembered_if_the_caller_commits() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    charge("a", End::Finally, &tx).unwrap_err();
    drop(tx);
    assert_eq!(file.records(), 0);
    let tx = connection.transaction().unwrap();
    charge("a", End::Finally, &tx).unwrap_err();
    tx.commit().unwrap();
    let tx = connection.transaction().unwrap();
    let refused = charge("a", End::Well, &tx).unwrap_err();
    assert!(matches!(&refused, ChargeError::Declined(why) if why == "never"), "{refused:?}");
    drop(tx);
    assert_eq!(file.charges("a"), 1);
}

#[test]
fn two_handlers_and_one_message_twice_share_a_transaction() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    assert!(charge("a", End::Well, &tx).unwrap().is_executed());
    note("a", End::Well, &tx).unwrap();
    let again = charge("a", End::Well, &tx).unwrap();
    assert!(matches!(&again, Outcome::Replayed { value, .. } if value == "receipt of msg:a"), "{again:?}");
    tx.commit().unwrap();
    assert_eq!((file.charges("a"), file.records()), (2, 2));
}

#[test]
fn a_savepoint_takes_its_record_with_it() {
    let file = File::new();
    let mut connection = file.open();
    let inbox = Inbox::new(Handler::new("tests.savepoint"));
    let key = Key::trusted("msg:a", "a test").unwrap();
    let mut tx = connection.transaction().unwrap();
    note("kept", End::Well, &tx).unwrap();
    {
        let mut point = tx.savepoint().unwrap();
        assert!(inbox.run_blocking(&point, &key, || Ok::<_, idem::Error>(7)).unwrap().is_executed());
        point.rollback().unwrap();
        assert!(inbox.run_blocking(&point, &key, || Ok::<_, idem::Error>(8)).unwrap().is_executed());
        point.commit().unwrap();
    }
    tx.commit().unwrap();
    let tx = connection.transaction().unwrap();
    assert_eq!(inbox.run_blocking(&tx, &key, || Ok::<_, idem::Error>(9)).unwrap().into_value(), 8);
    drop(tx);
    assert_eq!((file.charges("kept"), file.records()), (1, 2));
}

#[test]
fn a_racing_duplicate_waits_for_the_lock_and_gets_the_first_ones_result() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    charge("a", End::Well, &tx).unwrap();
    let second = std::thread::scope(|scope| {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let file = &file;
        let second = scope.spawn(move || {
            let mut connection = file.open();
            connection.busy_timeout(Duration::from_secs(20)).unwrap();
            let tx = connection.transaction().unwrap();
            begun.send(()).unwrap();
            let answer = charge("a", End::Well, &tx).unwrap();
            tx.commit().unwrap();
            answer
        });
        has_begun.recv().unwrap();
        tx.commit().unwrap();
        second.join().unwrap()
    });
    assert!(!second.is_executed());
    assert_eq!((file.charges("a"), file.records()), (1, 1));
}

#[test]
fn a_duplicate_that_may_not_wait_is_told_to_come_back() {
    let file = File::new();
    let (mut first, mut second) = (file.open(), file.open());
    second.busy_timeout(Duration::ZERO).unwrap();
    let tx = first.transaction().unwrap();
    charge("a", End::Well, &tx).unwrap();
    let other = second.transaction().unwrap();
    let error = charge("a", End::Well, &other).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("run the whole transaction again"), "{error}");
    drop(other);
    tx.commit().unwrap();
    let other = second.transaction().unwrap();
    assert!(!charge("a", End::Well, &other).unwrap().is_executed());
}

/// A transaction that has read keeps seeing the file as it was, and cannot write to it once it is another one.
#[test]
fn a_snapshot_that_is_older_than_the_first_commit_has_to_begin_anew() {
    let file = File::new();
    let (mut first, mut second) = (file.open(), file.open());
    let late = second.transaction_with_behavior(TransactionBehavior::Deferred).unwrap();
    late.query_row("select count(*) from charge", [], |row| row.get::<_, u32>(0)).unwrap();
    let tx = first.transaction().unwrap();
    charge("a", End::Well, &tx).unwrap();
    tx.commit().unwrap();
    let error = charge("a", End::Well, &late).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    drop(late);
    let again = second.transaction().unwrap();
    assert!(!charge("a", End::Well, &again).unwrap().is_executed());
}

#[test]
fn a_result_that_cannot_be_written_takes_the_transaction_with_it() {
    let file = File::new();
    let mut connection = file.open();
    let refuse = "create trigger no before update on idem_record begin select raise(abort, 'no'); end";
    connection.execute_batch(refuse).unwrap();
    let tx = connection.transaction().unwrap();
    let error = charge("a", End::Well, &tx).unwrap_err().idem();
    assert!(error.to_string().contains("cannot write a result"), "{error}");
    tx.commit().unwrap_err();
    assert_eq!((file.charges("a"), file.records()), (0, 0));
}

#[test]
fn another_payload_under_a_known_key_is_refused() {
    let file = File::new();
    let store = file.store();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    assert_eq!(elsewhere("a", 1200, &tx, &store).unwrap(), 1200);
    assert_eq!(elsewhere("a", 1200, &tx, &store).unwrap(), 1200);
    let error = elsewhere("a", 9900, &tx, &store).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
}

#[test]
fn records_of_leases_and_former_scopes_answer() {
    let file = File::new();
    let clock = ManualClock::new();
    let store = SqliteStore::builder(&file.path).beside_other_tables().clock(clock.clone()).open().unwrap();
    let key = |name: &str| Key::trusted(name, "a test").unwrap();
    let lease = Duration::from_secs(30);
    let old = Idempotent::new(&store, Handler::new("orders.old").lease(lease));
    old.run_blocking(&key("msg:done"), || Ok::<_, idem::Error>(1)).unwrap();
    // Held: its process fell silent.
    let held = key("msg:held");
    let begun = std::cell::Cell::new(false);
    let silent = old.run(&held, || {
        begun.set(true);
        std::future::pending::<Result<u32, idem::Error>>()
    });
    let mut silent = Box::pin(silent);
    let waker = std::task::Waker::noop();
    while !begun.get() {
        let _ = silent.as_mut().poll(&mut std::task::Context::from_waker(waker));
    }
    drop(silent);

    let new = Inbox::within(&store, Handler::new("orders.new").scope_was(&["orders.old"]).lease(lease));
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    assert_eq!(new.run_blocking(&tx, &key("msg:done"), || Ok::<_, idem::Error>(2)).unwrap().into_value(), 1);
    let busy = new.run_blocking(&tx, &key("msg:held"), || Ok::<_, idem::Error>(2)).unwrap_err();
    assert_eq!(busy.kind(), ErrorKind::InProgress, "{busy}");
    clock.advance(lease);
    let ran = new.run_blocking(&tx, &key("msg:held"), || Ok::<_, idem::Error>(2)).unwrap();
    assert!(ran.is_executed());
    tx.commit().unwrap();
    assert_eq!(file.records(), 3);

    // Of the same scope, the lapsed record itself is taken over, and put back after an error.
    let same = Inbox::within(&store, Handler::new("orders.old").lease(lease));
    let state = |connection: &Connection| -> u32 {
        let states = "select max(st) from idem_record where st < 2";
        connection.query_row(states, [], |row| row.get::<_, Option<u32>>(0)).unwrap().unwrap_or(9)
    };
    let tx = connection.transaction().unwrap();
    same.run_blocking(&tx, &key("msg:held"), || Err::<u32, _>(ChargeError::Other("no".into()))).unwrap_err();
    tx.commit().unwrap();
    assert_eq!(state(&connection), 1);
    let tx = connection.transaction().unwrap();
    assert!(same.run_blocking(&tx, &key("msg:held"), || Ok::<_, idem::Error>(3)).unwrap().is_executed());
    tx.commit().unwrap();
    assert_eq!((state(&connection), file.records()), (9, 3));
}

#[test]
fn records_end_in_time_and_are_swept_by_the_store() {
    let file = File::new();
    let clock = ManualClock::new();
    let store = SqliteStore::builder(&file.path).beside_other_tables().clock(clock.clone()).open().unwrap();
    let day = Duration::from_secs(86_400);
    let inbox = Inbox::within(&store, Handler::new("tests.ends").ttl(day).keep(2 * day));
    let key = Key::trusted("msg:a", "a test").unwrap();
    let mut connection = file.open();
    let mut deliver = |value: u32| {
        let tx = connection.transaction().unwrap();
        let answer = inbox.run_blocking(&tx, &key, || Ok::<_, idem::Error>(value));
        tx.commit().unwrap();
        answer
    };
    assert!(deliver(1).unwrap().is_executed());
    clock.advance(day);
    assert_eq!(deliver(2).unwrap_err().kind(), ErrorKind::NotKept);
    clock.advance(day);
    assert_eq!(deliver(3).unwrap(), Outcome::Executed { value: 3, recorded: true });
    assert_eq!(file.records(), 1);
    clock.advance(2 * day + Duration::from_secs(1));
    assert_eq!(store.sweep(10).wait().unwrap(), 1);
    assert_eq!(file.records(), 0);
}

#[test]
fn f18_a_store_on_another_file_is_refused() {
    let (file, other) = (File::new(), File::new());
    let store = other.store();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    let error = elsewhere("a", 7, &tx, &store).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("could not commit with the handler's rows"), "{error}");
    tx.commit().unwrap();
    assert_eq!((file.charges("a"), file.records(), other.records()), (0, 0, 0));
}

#[test]
fn f18_the_same_file_by_another_name_is_the_same() {
    let file = File::new();
    let link = file.path.with_file_name("link.db");
    std::os::unix::fs::symlink(&file.path, &link).unwrap();
    let store = file.store();
    let mut connection = crate::files::open(&link);
    let tx = connection.transaction().unwrap();
    assert_eq!(elsewhere("a", 7, &tx, &store).unwrap(), 7);
}

#[test]
fn without_its_table_a_handler_says_how_to_make_it() {
    let mut connection = Connection::open_in_memory().unwrap();
    let tx = connection.transaction().unwrap();
    let error = charge("a", End::Well, &tx).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("SqliteStore::ensure_schema"), "{error}");
}

#[test]
fn the_schema_is_made_once_and_only_where_nothing_else_has_its_name() {
    let connection = Connection::open_in_memory().unwrap();
    SqliteStore::ensure_schema(&connection).unwrap();
    SqliteStore::ensure_schema(&connection).unwrap();

    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SqliteStore::schema()).unwrap();
    SqliteStore::ensure_schema(&connection).unwrap();

    let mut connection = Connection::open_in_memory().unwrap();
    let tx = connection.transaction().unwrap();
    SqliteStore::ensure_schema(&tx).unwrap();
    tx.rollback().unwrap();
    connection.execute_batch("create table idem_record (id integer primary key, k blob)").unwrap();
    let error = SqliteStore::ensure_schema(&connection).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Foreign, "{error}");
}

#[test]
fn many_may_make_the_schema_at_once() {
    let file = File::new();
    file.open().execute_batch("drop table idem_record").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| SqliteStore::ensure_schema(&file.open()).unwrap());
        }
    });
    assert_eq!(file.records(), 0);
}

#[test]
fn a_store_beside_other_tables_changes_nothing_of_their_file() {
    let file = File::new();
    let about = |connection: &Connection| {
        ["application_id", "user_version"]
            .map(|name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0)).unwrap())
    };
    let before = about(&file.open());
    drop(file.store());
    assert_eq!(about(&file.open()), before);

    let plain = File::new();
    plain.open().pragma_update(None, "journal_mode", "delete").unwrap();
    let error = SqliteStore::builder(&plain.path).beside_other_tables().open().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("pragma journal_mode = wal"), "{error}");

    let error = SqliteStore::open(&file.path).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Foreign, "{error}");
    assert!(error.to_string().contains("beside_other_tables"), "{error}");
}

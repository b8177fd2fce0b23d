//! On a file that cannot take part, a handler's body does not run, and its error names the file and the cause.

use std::cell::Cell;
use std::time::Duration;

use idem_core::machine::Verdict;
use idem_core::{Error, ErrorKind, Handler, Idempotent, Key, Namespace, SqliteStore, Store};
use rusqlite::Connection;

use crate::asks::{Dir, claim, granted};

const SCOPE: &str = "tests.unfit";
const KEY: &str = "msg:1";

/// Hands a message to a handler, whose body must not run.
fn refused(store: &SqliteStore, kind: ErrorKind, cause: &str) {
    let ran = Cell::new(false);
    let key = Key::trusted(KEY, "a test's only message").unwrap();
    let error = Idempotent::new(store, Handler::new(SCOPE))
        .run_blocking(&key, || {
            ran.set(true);
            Ok::<u32, Error>(7)
        })
        .unwrap_err();
    assert!(!ran.get(), "the body ran: {error}");
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    assert!(text.contains("idem.db") && text.contains(cause), "{text}");
}

#[test]
fn no_body_runs_on_a_file_that_stays_locked() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).busy_timeout(Duration::from_millis(20)).open().unwrap();
    let other = Connection::open(dir.file()).unwrap();
    other.execute_batch("begin immediate").unwrap();
    refused(&store, ErrorKind::Unavailable, "another connection holds its lock");
}

#[test]
fn no_body_runs_on_a_file_that_is_full() {
    let dir = Dir::new();
    let store = SqliteStore::builder(dir.file()).max_bytes(64 << 10).open().unwrap();
    let is_full = |n: u32| store.claim(&claim(&format!("key {n}"))).wait().is_err();
    assert!((0..2_000).any(is_full), "64 KiB hold no 2,000 claims");
    refused(&store, ErrorKind::Full, "is full");
}

#[test]
fn no_body_runs_for_a_record_that_is_damaged_nor_is_it_written_over() {
    let dir = Dir::new();
    let store = SqliteStore::open(dir.file()).unwrap();
    let id = Namespace::new("", "", SCOPE).record(KEY);
    let mut known = claim("any");
    known.id = id;
    let _ = granted(store.claim(&known).wait());
    let hand = Connection::open(dir.file()).unwrap();
    hand.pragma_update(None, "ignore_check_constraints", true).unwrap();
    hand.execute("update idem_record set lease_at = null", []).unwrap();
    refused(&store, ErrorKind::Misconfigured, "lease_at");
    hand.execute("update idem_record set lease_at = drop_at", []).unwrap();
    let verdict = store.claim(&known).wait().unwrap();
    assert!(matches!(verdict, Verdict::Claimed(grant) if grant.resumed), "{verdict:?}");
}

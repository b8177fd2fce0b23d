//! A transaction of SQLite that ends before its handler does, and one that is committed after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use idem::{ErrorKind, Handler, Inbox, Key, idempotent};
use rusqlite::Transaction;

use crate::ends::{ChargeError, End};
use crate::files::{File, charge, note, write};

/// What the caller hands in runs in the body.
#[idempotent(key = "msg:<message>", tx = tx)]
fn with(
    message: &str,
    tx: &Transaction<'_>,
    work: &dyn Fn() -> Result<(), ChargeError>,
) -> Result<(), ChargeError> {
    work()
}

#[test]
fn nothing_runs_in_a_transaction_that_is_over() {
    let file = File::new();
    let mut connection = file.open();
    for end in ["commit", "rollback"] {
        let tx = connection.transaction().unwrap();
        tx.execute_batch(end).unwrap();
        let error = charge("a", End::Well, &tx).unwrap_err().idem();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        assert!(error.to_string().contains("begin another one"), "{error}");
    }
    // The next message of a consumer that goes on after its first one's body has rolled back.
    let tx = connection.transaction().unwrap();
    let _ = with("a", &tx, &|| Ok(tx.execute_batch("rollback")?));
    assert_eq!(note("b", End::Well, &tx).unwrap_err().idem().kind(), ErrorKind::Misconfigured);
    tx.commit().unwrap_err();
    assert_eq!((file.charges("a"), file.charges("b"), file.records()), (0, 0, 0));
}

#[test]
fn a_body_that_commits_and_then_fails_is_left_to_a_person() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    let half = || {
        write(&tx, "a")?;
        tx.execute_batch("commit")?;
        Err(ChargeError::Other("too late".to_owned()))
    };
    assert!(matches!(with("a", &tx, &half), Err(ChargeError::Other(_))));
    drop(tx);
    let tx = connection.transaction().unwrap();
    let error = with("a", &tx, &|| Ok(write(&tx, "a")?)).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Lapsed, "{error}");
    tx.commit().unwrap();
    assert_eq!(file.charges("a"), 1);
}

/// The record of a handler that has only one result says so from the start.
#[test]
fn after_a_panic_nothing_is_remembered_even_if_the_caller_commits() {
    let file = File::new();
    let mut connection = file.open();
    let inbox = Inbox::new(Handler::new("tests.panic.committed"));
    let key = Key::trusted("msg:a", "a test").unwrap();
    let tx = connection.transaction().unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| with("a", &tx, &|| panic!("on purpose"))));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"on purpose"));
    let work = || -> Result<(), ChargeError> { panic!("on purpose") };
    catch_unwind(AssertUnwindSafe(|| inbox.run_blocking(&tx, &key, work))).unwrap_err();
    tx.commit().unwrap();
    assert_eq!(file.records(), 0);
    let tx = connection.transaction().unwrap();
    with("a", &tx, &|| Ok(write(&tx, "a")?)).unwrap();
    assert!(inbox.run_blocking(&tx, &key, || Ok::<_, ChargeError>(())).unwrap().is_executed());
    tx.commit().unwrap();
    assert_eq!((file.charges("a"), file.records()), (1, 2));
}

#[test]
fn a_former_scope_that_is_the_handlers_own_answers_for_nothing() {
    let file = File::new();
    let mut connection = file.open();
    let inbox = Inbox::new(Handler::new("tests.own").scope_was(&["tests.own"]));
    let tenants = Inbox::new(Handler::new("tests.own").scope_was(&["tests.own"])).tenant("a");
    let key = Key::trusted("msg:a", "a test").unwrap();
    let tx = connection.transaction().unwrap();
    for inbox in [&inbox, &tenants] {
        for delivery in 0..2 {
            let answer = inbox.run_blocking(&tx, &key, || Ok::<_, idem::Error>(delivery)).unwrap();
            assert_eq!((answer.is_executed(), answer.into_value()), (delivery == 0, 0));
        }
    }
}

/// SQLite rolls back by itself after some errors, which the body need not say. What it writes from then on commits at once.
#[test]
fn a_body_that_goes_on_after_its_transaction_was_rolled_back_is_no_success() {
    let file = File::new();
    let mut connection = file.open();
    connection.execute_batch("create unique index once on charge (message)").unwrap();
    let tx = connection.transaction().unwrap();
    let careless = || {
        write(&tx, "a")?;
        let _ = tx.execute("insert or rollback into charge (message) values ('a')", []);
        Ok(write(&tx, "of the body's own")?)
    };
    let error = with("a", &tx, &careless).unwrap_err().idem();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("rolled back or deleted while the body ran"), "{error}");
    tx.commit().unwrap_err();
    assert_eq!((file.charges("a"), file.records()), (0, 0));
    // One that has committed its rows itself, against all advice, has committed the record with them.
    let tx = connection.transaction().unwrap();
    with("b", &tx, &|| Ok(tx.execute_batch("commit")?)).unwrap();
    drop(tx);
    assert_eq!(file.records(), 1);
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Unsure;

impl From<idem::Error> for Unsure {
    fn from(error: idem::Error) -> Self {
        panic!("{error}")
    }
}

fn cannot_tell(_: &Unsure) -> bool {
    panic!("on purpose")
}

#[idempotent(key = "msg:<message>", tx = tx, final_error = cannot_tell)]
fn unsure(message: &str, fails: bool, tx: &Transaction<'_>) -> Result<(), Unsure> {
    let _ = (message, tx);
    if fails { Err(Unsure) } else { Ok(()) }
}

#[test]
fn nothing_is_remembered_either_after_a_panic_of_what_judges_the_error() {
    let file = File::new();
    let mut connection = file.open();
    let tx = connection.transaction().unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| unsure("a", true, &tx)));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"on purpose"));
    tx.commit().unwrap();
    assert_eq!(file.records(), 0);
    let tx = connection.transaction().unwrap();
    unsure("a", false, &tx).unwrap();
}

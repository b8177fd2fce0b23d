//! F17: a worker that is killed at every step, and its message delivered again: with rusqlite, with sqlx, and one after the other.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use idem::{Outcome, idempotent};
use rusqlite::Transaction;
use sqlx::Sqlite;

use crate::by_sqlx;
use crate::ends::ChargeError;
use crate::files::{File, open, write};

const STEP: &str = "IDEM_TEST_STEP";
const FILE: &str = "IDEM_TEST_FILE";
const DRIVER: &str = "IDEM_TEST_DRIVER";

/// From the message in hand to the moment at which it would be acknowledged.
const STEPS: [&str; 8] =
    ["received", "begun", "entered", "half done", "done", "returned", "committed", "acknowledged"];

/// Stops here for ever, if the process was told to: somebody kills it.
fn step(name: &str) {
    if std::env::var(STEP).is_ok_and(|step| step == name) {
        println!("says: {name}");
        loop {
            std::thread::park();
        }
    }
}

/// What handlers of both drivers do, with records in one scope, as when a program goes over from one driver to the other, and has to go
/// back. A scope that is a type's is compared with no other handler's.
trait Work {
    const SCOPE: &'static str;
}

struct Transfer;

impl Work for Transfer {
    const SCOPE: &'static str = "transfer";
}

struct Silently;

impl Work for Silently {
    const SCOPE: &'static str = "transfer_silently";
}

#[idempotent(key = "msg:<message>", tx = tx, scope = W::SCOPE)]
fn transfer<W: Work>(message: &str, tx: &Transaction<'_>) -> Result<Outcome<String>, ChargeError> {
    step("entered");
    write(tx, message)?;
    step("half done");
    write(tx, &format!("{message}, other half"))?;
    step("done");
    Ok(format!("receipt of {message}").into())
}

/// The same without a result to keep.
#[idempotent(key = "msg:<message>", tx = tx, scope = W::SCOPE)]
fn transfer_silently<W: Work>(message: &str, tx: &Transaction<'_>) -> Result<Outcome<()>, ChargeError> {
    step("entered");
    write(tx, message)?;
    step("half done");
    write(tx, &format!("{message}, other half"))?;
    step("done");
    Ok(().into())
}

#[idempotent(key = "msg:<message>", tx = tx, scope = W::SCOPE)]
async fn transfer_by_sqlx<W: Work>(
    message: &str,
    tx: &mut sqlx::Transaction<'_, Sqlite>,
) -> Result<Outcome<String>, ChargeError> {
    step("entered");
    by_sqlx::handlers::write(tx, message).await?;
    step("half done");
    by_sqlx::handlers::write(tx, &format!("{message}, other half")).await?;
    step("done");
    Ok(format!("receipt of {message}").into())
}

#[idempotent(key = "msg:<message>", tx = tx, scope = W::SCOPE)]
async fn transfer_silently_by_sqlx<W: Work>(
    message: &str,
    tx: &mut sqlx::Transaction<'_, Sqlite>,
) -> Result<Outcome<()>, ChargeError> {
    step("entered");
    by_sqlx::handlers::write(tx, message).await?;
    step("half done");
    by_sqlx::handlers::write(tx, &format!("{message}, other half")).await?;
    step("done");
    Ok(().into())
}

/// What the worker has the file open with.
#[derive(Clone, Copy, Debug)]
enum Driver {
    Rusqlite,
    Sqlx,
}

impl Driver {
    const ALL: [Self; 2] = [Self::Rusqlite, Self::Sqlx];

    /// Whether the message was worked on.
    fn deliver(self, path: &Path, message: &str) -> bool {
        match self {
            Self::Rusqlite => deliver(path, message),
            Self::Sqlx => by_sqlx::run(deliver_by_sqlx(path, message)),
        }
    }
}

async fn deliver_by_sqlx(path: &Path, message: &str) -> bool {
    let pool = sqlx::SqlitePool::connect_with(by_sqlx::scene::options(path)).await.unwrap();
    step("received");
    let mut tx = pool.begin().await.unwrap();
    step("begun");
    let executed = if message == "silent" {
        transfer_silently_by_sqlx::<Silently>(message, &mut tx).await.unwrap().is_executed()
    } else {
        let answer = transfer_by_sqlx::<Transfer>(message, &mut tx).await.unwrap();
        assert_eq!(answer.value(), &format!("receipt of {message}"));
        answer.is_executed()
    };
    step("returned");
    tx.commit().await.unwrap();
    step("committed");
    executed
}

fn deliver(path: &Path, message: &str) -> bool {
    let mut connection = open(path);
    step("received");
    let tx = connection.transaction().unwrap();
    step("begun");
    let executed = if message == "silent" {
        transfer_silently::<Silently>(message, &tx).unwrap().is_executed()
    } else {
        let answer = transfer::<Transfer>(message, &tx).unwrap();
        assert_eq!(answer.value(), &format!("receipt of {message}"));
        answer.is_executed()
    };
    step("returned");
    tx.commit().unwrap();
    step("committed");
    executed
}

/// This test binary once more, for one delivery: what it says, line by line. A process has only one of the handlers of a scope.
fn worker_at(at: &str, driver: Driver, file: &Path, message: &str) -> (Worker, impl Iterator<Item = String>) {
    let mut worker = Worker(
        Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "crash::worker"])
            .env(STEP, at)
            .env(DRIVER, format!("{driver:?}"))
            .env(FILE, format!("{}\n{message}", file.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let lines = BufReader::new(worker.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| line.split_once("says: ").map(|(_, said)| said.to_owned()));
    (worker, said)
}

/// A delivery that is killed at one step.
fn killed_at(at: &str, driver: Driver, file: &Path, message: &str) {
    let (_worker, mut said) = worker_at(at, driver, file, message);
    assert_eq!(said.next().as_deref(), Some(at), "with {driver:?}");
}

/// A delivery that goes well: whether the message was worked on.
fn delivered(driver: Driver, file: &Path, message: &str) -> bool {
    let (_worker, mut said) = worker_at("nowhere", driver, file, message);
    let worked = said.next().expect("an end");
    said.for_each(drop);
    worked.parse().expect("whether it was worked on")
}

struct Worker(Child);

impl Drop for Worker {
    /// SIGKILL.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "the worker that the other test kills"]
fn worker() {
    let Ok(told) = std::env::var(FILE) else { return };
    let (path, message) = told.split_once('\n').unwrap();
    let named = std::env::var(DRIVER).unwrap();
    let driver = Driver::ALL.into_iter().find(|driver| format!("{driver:?}") == named).unwrap();
    let worked = driver.deliver(Path::new(path), message);
    step("acknowledged");
    println!("says: {worked}");
}

fn one_effect_after_a_kill(at: &str, message: &str, [before, after]: [Driver; 2]) {
    let file = File::new();
    killed_at(at, before, &file.path, message);
    let committed = matches!(at, "committed" | "acknowledged");
    let when = format!("{before:?} was killed when {at}, then came {after:?}");
    assert_eq!(delivered(after, &file.path, message), !committed, "{when}");
    for effect in [message, &format!("{message}, other half")] {
        assert_eq!(file.charges(effect), 1, "{effect:?}: {when}");
    }
    assert_eq!(file.records(), 1, "{when}");
    assert!(!delivered(before, &file.path, message), "{when}");
    assert_eq!(file.charges(message), 1, "{when}");
}

#[test]
fn f17_a_worker_killed_at_any_step_leaves_one_effect_after_the_redelivery() {
    for driver in Driver::ALL {
        for message in ["charged", "silent"] {
            for at in STEPS {
                one_effect_after_a_kill(at, message, [driver; 2]);
            }
        }
    }
}

#[test]
fn f17_so_does_one_whose_message_is_redelivered_to_the_other_driver() {
    for at in STEPS {
        one_effect_after_a_kill(at, "charged", [Driver::Rusqlite, Driver::Sqlx]);
        one_effect_after_a_kill(at, "charged", [Driver::Sqlx, Driver::Rusqlite]);
    }
}

//! F17: a worker that is killed at every step, and its message delivered again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use idem::{Outcome, idempotent};
use rusqlite::{Connection, Transaction};

use crate::files::{ChargeError, File, open, write};

const STEP: &str = "IDEM_TEST_STEP";
const FILE: &str = "IDEM_TEST_FILE";

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

#[idempotent(key = "msg:<message>", tx = tx)]
fn transfer(message: &str, tx: &Transaction<'_>) -> Result<Outcome<String>, ChargeError> {
    step("entered");
    write(tx, message)?;
    step("half done");
    write(tx, &format!("{message}, other half"))?;
    step("done");
    Ok(format!("receipt of {message}").into())
}

/// The same without a result to keep.
#[idempotent(key = "msg:<message>", tx = tx)]
fn transfer_silently(message: &str, tx: &Transaction<'_>) -> Result<Outcome<()>, ChargeError> {
    step("entered");
    write(tx, message)?;
    step("half done");
    write(tx, &format!("{message}, other half"))?;
    step("done");
    Ok(().into())
}

fn deliver(connection: &mut Connection, message: &str) -> bool {
    step("received");
    let tx = connection.transaction().unwrap();
    step("begun");
    let executed = if message == "silent" {
        transfer_silently(message, &tx).unwrap().is_executed()
    } else {
        let answer = transfer(message, &tx).unwrap();
        assert_eq!(answer.value(), &format!("receipt of {message}"));
        answer.is_executed()
    };
    step("returned");
    tx.commit().unwrap();
    step("committed");
    executed
}

/// This test binary once more, killed at one step.
fn killed_at(at: &str, file: &Path, message: &str) {
    let mut worker = Worker(
        Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "crash::worker"])
            .env(STEP, at)
            .env(FILE, format!("{}\n{message}", file.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut lines = BufReader::new(worker.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("says: ")), "the worker never got to {at:?}");
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
    deliver(&mut open(Path::new(path)), message);
    step("acknowledged");
}

#[test]
fn f17_a_worker_killed_at_any_step_leaves_one_effect_after_the_redelivery() {
    for message in ["charged", "silent"] {
        for at in STEPS {
            let file = File::new();
            killed_at(at, &file.path, message);
            let mut connection = file.open();
            let committed = matches!(at, "committed" | "acknowledged");
            assert_eq!(deliver(&mut connection, message), !committed, "killed when {at}");
            for effect in [message, &format!("{message}, other half")] {
                assert_eq!(file.charges(effect), 1, "{effect:?}, killed when {at}");
            }
            assert_eq!(file.records(), 1, "killed when {at}");
            assert!(!deliver(&mut connection, message));
            assert_eq!(file.charges(message), 1, "killed when {at}");
        }
    }
}

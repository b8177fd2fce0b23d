//! F17: a worker that is killed at every step, and its message delivered again.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use idem::{Outcome, idempotent};

use crate::database::{run, url};
use crate::ends::ChargeError;
use crate::handlers::Tx;
use crate::scene::{Scene, pool};

const STEP: &str = "IDEM_TEST_STEP";
const URL: &str = "IDEM_TEST_URL";
const SCHEMA: &str = "IDEM_TEST_SCHEMA";

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

/// Its transaction may still be there for a moment after its worker was killed.
#[idempotent(key = "msg:<message>", tx = tx, on_duplicate = wait("20s"))]
async fn transfer(message: &str, tx: Tx<'_>) -> Result<Outcome<String>, ChargeError> {
    step("entered");
    sqlx::query("insert into charge (message) values ($1)")
        .bind(message.to_owned())
        .execute(&mut **tx)
        .await?;
    step("half done");
    sqlx::query("insert into charge (message) values ($1)")
        .bind(format!("{message}, other half"))
        .execute(&mut **tx)
        .await?;
    step("done");
    Ok(format!("receipt of {message}").into())
}

async fn deliver(pool: &sqlx::PgPool, message: &str) -> Outcome<String> {
    step("received");
    let mut tx = pool.begin().await.unwrap();
    step("begun");
    let answer = transfer(message, &mut tx).await.unwrap();
    step("returned");
    tx.commit().await.unwrap();
    step("committed");
    answer
}

/// This test binary once more, stopped at one step.
struct Worker(Child);

impl Worker {
    fn stopped_at(at: &str, schema: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "crash::worker"])
            .env(STEP, at)
            .env(URL, url())
            .env(SCHEMA, schema)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let worker = Self(child);
        let mut lines = output.lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("says: ")), "the worker never got to {at:?}");
        worker
    }
}

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
    let (Ok(url), Ok(schema)) = (std::env::var(URL), std::env::var(SCHEMA)) else { return };
    let pool = pool(&url, &schema);
    run(deliver(&pool, "a"));
    step("acknowledged");
}

#[test]
#[cfg_attr(not(postgres_server), ignore = "needs PostgreSQL")]
fn f17_a_worker_killed_at_any_step_leaves_one_effect_after_the_redelivery() {
    for at in STEPS {
        let scene = Scene::new();
        drop(Worker::stopped_at(at, &scene.schema));
        run(async {
            let answer = deliver(&scene.pool, "a").await;
            assert_eq!(answer.value(), "receipt of a");
            let committed = matches!(at, "committed" | "acknowledged");
            assert_eq!(answer.is_executed(), !committed, "killed when {at}");
            for effect in ["a", "a, other half"] {
                assert_eq!(scene.charges(effect).await, 1, "{effect:?}, killed when {at}");
            }
            assert_eq!(scene.records().await, 1, "killed when {at}");
            assert!(!deliver(&scene.pool, "a").await.is_executed());
            assert_eq!(scene.charges("a").await, 1, "killed when {at}");
        });
    }
}

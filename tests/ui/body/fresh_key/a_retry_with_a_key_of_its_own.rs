use idem::idempotent;
use uuid::Uuid;

#[derive(Clone)]
struct Run {
    id: String,
    target: String,
    idempotency_key: String,
}

fn start(run: &Run) -> anyhow::Result<()> {
    println!("{} {} {}", run.id, run.target, run.idempotency_key);
    Ok(())
}

#[idempotent(key = "run:<parent.id>")]
fn retry(parent: Run) -> anyhow::Result<()> {
    let suffix = Uuid::new_v4().simple().to_string();
    let retried = Run { idempotency_key: format!("{}-retry-{suffix}", parent.id), ..parent.clone() };
    start(&retried)
}

fn main() {}

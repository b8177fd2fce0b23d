use idem::idempotent;
use uuid::Uuid;

struct Verify {
    id: String,
    action: String,
    nullifier: String,
}

struct Submission {
    idempotency_key: Option<String>,
}

fn submit(submission: Submission) -> anyhow::Result<()> {
    println!("{:?}", submission.idempotency_key);
    Ok(())
}

#[idempotent(key = "verify:<verify.id>")]
fn relay(verify: Verify) -> anyhow::Result<()> {
    let mut parts = vec![verify.action, verify.nullifier];
    parts.push(Uuid::new_v4().to_string());
    submit(Submission { idempotency_key: Some(parts.join("-")) })
}

fn main() {}

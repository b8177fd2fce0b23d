use idem::idempotent;

/// As in the crate.
mod fastrand {
    pub fn u64(_range: std::ops::RangeFull) -> u64 {
        7
    }
}

struct Job {
    id: String,
    idempotence_token: Option<String>,
}

struct Enqueue {
    idempotence_token: String,
}

fn enqueue(job: Enqueue) -> anyhow::Result<()> {
    println!("{}", job.idempotence_token);
    Ok(())
}

#[idempotent(key = "job:<job.id>")]
fn forward(job: Job) -> anyhow::Result<()> {
    let token = match job.idempotence_token {
        Some(token) => token,
        // For jobs of the old version.
        None => format!("{:x}", fastrand::u64(..)),
    };
    enqueue(Enqueue { idempotence_token: token })
}

fn main() {}

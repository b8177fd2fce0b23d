use idem::idempotent;
use uuid::Uuid;

struct Case {
    id: String,
    text: String,
}

struct Outgoing {
    dedup_key: u32,
    text: String,
}

fn send(message: Outgoing) -> anyhow::Result<()> {
    println!("{} {}", message.dedup_key, message.text);
    Ok(())
}

#[idempotent(key = "case:<case.id>")]
fn reply(case: Case) -> anyhow::Result<()> {
    let low = Uuid::new_v4().as_u128() as u32;
    send(Outgoing { dedup_key: low & 0x00ff_ffff, text: case.text })
}

fn main() {}

use idem::idempotent;
use uuid::Uuid;

#[derive(Clone)]
struct Envelope {
    message_id: Uuid,
    original_message_id: Option<Uuid>,
    body: String,
}

fn schedule(copy: Envelope) -> anyhow::Result<()> {
    println!("{} {:?} {}", copy.message_id, copy.original_message_id, copy.body);
    Ok(())
}

#[idempotent(key = "envelope:<envelope.message_id>")]
fn redeliver(envelope: Envelope) -> anyhow::Result<()> {
    schedule(Envelope {
        message_id: Uuid::new_v4(),
        original_message_id: Some(envelope.message_id),
        body: envelope.body,
    })
}

fn main() {}

use idem::idempotent;
use uuid::Uuid;

struct Row {
    id: Uuid,
    payload: String,
}

#[derive(Default)]
struct Event {
    event_id: Uuid,
    payload: String,
}

fn publish(event: &Event) -> anyhow::Result<()> {
    println!("{} {}", event.event_id, event.payload);
    Ok(())
}

#[idempotent(key = "outbox:<row.id>")]
fn send(row: Row) -> anyhow::Result<()> {
    let mut event = Event { payload: row.payload, ..Event::default() };
    event.event_id = Uuid::new_v4();
    publish(&event)
}

fn main() {}

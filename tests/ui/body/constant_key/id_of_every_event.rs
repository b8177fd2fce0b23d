use idem::idempotent;

struct Event {
    event_id: String,
    order: String,
}

fn publish(event: Event) -> anyhow::Result<()> {
    println!("{} {}", event.event_id, event.order);
    Ok(())
}

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
fn paid(order: Order) -> anyhow::Result<()> {
    publish(Event { event_id: "billing-service".to_owned(), order: order.id })
}

fn main() {}

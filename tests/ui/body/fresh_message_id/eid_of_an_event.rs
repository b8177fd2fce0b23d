use idem::idempotent;
use uuid::Uuid;

struct Metadata {
    eid: Uuid,
    occurred_at: u64,
}

struct OrderPaid {
    metadata: Metadata,
    order: String,
}

fn publish(event: &OrderPaid) -> anyhow::Result<()> {
    println!("{} {} {}", event.metadata.eid, event.metadata.occurred_at, event.order);
    Ok(())
}

struct Order {
    id: String,
    paid_at: u64,
}

#[idempotent(key = "order:<order.id>")]
fn paid(order: Order) -> anyhow::Result<()> {
    let metadata = Metadata { eid: Uuid::new_v4(), occurred_at: order.paid_at };
    publish(&OrderPaid { metadata, order: order.id })
}

fn main() {}

//! Events that are published.

use std::time::SystemTime;

use idem::idempotent;
use uuid::Uuid;

use super::Done;
use super::outside::{Table, named_id};

struct Row {
    number: u64,
    id: Uuid,
    order: String,
    occurred_at: SystemTime,
}

struct OrderPaid {
    event_id: Uuid,
    order: String,
    occurred_at: SystemTime,
    sent_at: SystemTime,
}

#[idempotent(key = "outbox:<row.number>")]
async fn the_id_of_the_row(row: Row) -> Done {
    let event = OrderPaid {
        event_id: row.id,
        order: row.order,
        occurred_at: row.occurred_at,
        sent_at: SystemTime::now(),
    };
    Table.insert(event).await
}

#[idempotent(key = "outbox:<row.number>")]
async fn an_id_for_each_kind(row: Row) -> Done {
    for kind in ["paid", "shipped"] {
        let event_id = named_id(&format!("{kind}:{}", row.id));
        let sent_at = SystemTime::now();
        let order = row.order.clone();
        Table.insert(OrderPaid { event_id, order, occurred_at: row.occurred_at, sent_at }).await?;
    }
    Ok(())
}

#[idempotent(key = "outbox:<row.number>")]
async fn the_time_is_changed_afterwards(row: Row) -> Done {
    let now = SystemTime::now();
    let mut event = OrderPaid {
        event_id: row.id,
        order: row.order,
        occurred_at: row.occurred_at,
        sent_at: row.occurred_at,
    };
    event.sent_at = now;
    let OrderPaid { event_id, order, .. } = event;
    Table.insert((event_id, order, now)).await
}

struct AuditEntry {
    event_id: Uuid,
    what: String,
}

#[idempotent(key = "outbox:<row.number>")]
async fn an_entry_of_an_audit_log(row: Row) -> Done {
    Table.insert(AuditEntry { event_id: Uuid::new_v4(), what: row.order }).await
}

#[idempotent(key = "outbox:<row.number>")]
async fn a_loop_over_what_happened(row: Row) -> Done {
    let events: Vec<OrderPaid> = (0..3)
        .map(|at| OrderPaid {
            event_id: named_id(&format!("{}:{at}", row.id)),
            order: row.order.clone(),
            occurred_at: row.occurred_at,
            sent_at: SystemTime::now(),
        })
        .collect();
    for event in events {
        Table.insert(event.event_id).await?;
    }
    Ok(())
}

#[idempotent(
    key = "outbox:<row.number>",
    allow(body_fresh_message_id, reason = "nobody reads the ids of heartbeats")
)]
async fn a_heartbeat(row: Row) -> Done {
    let now = SystemTime::now();
    Table
        .insert(OrderPaid { event_id: Uuid::new_v4(), order: row.order, occurred_at: now, sent_at: now })
        .await
}

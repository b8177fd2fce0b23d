use idem::idempotent;
use uuid::Uuid;

/// As in the SDK.
#[derive(Default)]
struct SendMessage {
    id: String,
}

impl SendMessage {
    fn message_group_id(self, group: &str) -> Self {
        println!("{group}");
        self
    }

    fn message_deduplication_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }
}

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
fn ship(order: Order) -> anyhow::Result<String> {
    let sent = SendMessage::default().message_group_id(&order.id).message_deduplication_id(Uuid::new_v4());
    Ok(sent.id)
}

fn main() {}

use idem::idempotent;
use uuid::Uuid;

/// As in the crate.
#[derive(Default)]
struct EventBuilderV10 {
    id: String,
}

impl EventBuilderV10 {
    fn new() -> Self {
        Self::default()
    }

    fn id(self, id: impl Into<String>) -> Self {
        Self { id: id.into() }
    }

    fn ty(self, ty: &str) -> Self {
        println!("{ty}");
        self
    }
}

struct Order {
    id: String,
}

#[idempotent(key = "order:<order.id>")]
fn paid(order: Order) -> anyhow::Result<String> {
    let event = EventBuilderV10::new().ty("order.paid").id(Uuid::new_v4().to_string());
    Ok(event.id + &order.id)
}

fn main() {}

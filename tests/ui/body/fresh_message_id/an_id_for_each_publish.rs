use idem::idempotent;

/// As in the crate.
mod ksuid {
    pub struct Ksuid;

    impl Ksuid {
        pub fn generate() -> Self {
            Self
        }

        pub fn to_base62(&self) -> String {
            "0ujtsYcgvSTl8PAuAdqWYSMnLOv".to_owned()
        }
    }
}

use ksuid::Ksuid;

struct Order {
    id: String,
}

#[derive(Default)]
struct Publish {
    id: String,
}

impl Publish {
    fn message_id(self, id: impl Into<String>) -> Self {
        Self { id: id.into() }
    }
}

#[idempotent(key = "order:<order.id>")]
fn announce(order: Order) -> anyhow::Result<String> {
    let publish = Publish::default().message_id(Ksuid::generate().to_base62());
    Ok(publish.id + &order.id)
}

fn main() {}

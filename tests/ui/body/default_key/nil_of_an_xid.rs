use idem::idempotent;

struct Order {
    id: String,
}

/// As in the crate.
mod xid {
    #[derive(Default)]
    pub struct Id([u8; 12]);

    impl std::fmt::Display for Id {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{:?}", self.0)
        }
    }
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let request = reqwest::Client::new().post("https://pay.example").body(order.id);
    request.header("Idempotency-Key", xid::Id::default().to_string()).send().await?;
    Ok(())
}

fn main() {}

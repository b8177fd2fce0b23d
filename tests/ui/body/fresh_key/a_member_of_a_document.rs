use std::collections::BTreeMap;

use idem::idempotent;
use uuid::Uuid;

struct Order {
    id: String,
}

/// As in `bson`.
macro_rules! doc {
    ($($name:literal: $value:expr),*) => { BTreeMap::from([$(($name, $value.to_string())),*]) };
}

#[idempotent(key = "order:<order.id>")]
async fn charge(order: Order) -> anyhow::Result<()> {
    let body = doc! { "order": order.id, "idempotency_key": Uuid::new_v4() };
    reqwest::Client::new().post("https://pay.example").json(&body).send().await?;
    Ok(())
}

fn main() {}

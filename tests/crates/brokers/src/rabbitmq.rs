//! lapin.

use idem::{Key, idempotent};
use lapin::message::Delivery;
use lapin::types::ShortString;

use crate::Keyed;

/// The broker sets no id, so a message without one is refused when it comes.
#[idempotent(
    store = none,
    key = "rabbit:<delivery.properties.message_id()>",
    trust(delivery.properties.message_id(), reason = "a getter of the property, which the publisher sets")
)]
pub async fn the_publishers_id(delivery: &Delivery, #[key] key: &Key) -> Keyed {
    Ok(key.to_string())
}

/// Two publishers may count alike.
#[idempotent(
    store = none,
    key = "rabbit:<delivery.exchange>:<delivery.properties.message_id()>",
    trust(delivery.properties.message_id(), reason = "a getter of the property, which the publisher sets")
)]
pub async fn beside_the_exchange(delivery: &Delivery, #[key] key: &Key) -> Keyed {
    Ok(key.to_string())
}

/// The id was read before, and acknowledged after.
#[idempotent(store = none, key = "rabbit:<message_id>")]
pub async fn an_id_that_was_read_before(
    message_id: &ShortString,
    delivery: &Delivery,
    #[key] key: &Key,
) -> Keyed {
    // What differs per delivery is there to acknowledge it, and to be logged.
    println!("{} (again: {}) of {}", delivery.delivery_tag, delivery.redelivered, delivery.routing_key);
    Ok(key.to_string())
}

/// The id is in the body.
#[derive(idem::Message, serde::Deserialize)]
pub struct Shipped {
    #[message(id)]
    pub event_id: String,
    pub order_id: u64,
}

#[idempotent(store = none, key = "shipped:<shipped.event_id>")]
pub async fn an_id_of_the_body(shipped: Shipped, delivery: &Delivery, #[key] key: &Key) -> Keyed {
    println!("{}: order {}", delivery.delivery_tag, shipped.order_id);
    Ok(key.to_string())
}

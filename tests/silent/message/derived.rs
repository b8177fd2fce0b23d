//! Messages that say what their fields are.

use idem::{Key, Message, idempotent};
use serde::{Deserialize, Serialize};

use crate::{Keyed, same_key};

#[derive(Message, Serialize, Deserialize)]
struct Payment {
    #[message(id)]
    #[serde(rename = "paymentId")]
    id: String,
    #[message(event)]
    #[serde(default)]
    event: Option<String>,
    customer_id: u64,
    #[message(per_delivery)]
    #[serde(default)]
    tag: u64,
    #[message(published_at)]
    published_at: u64,
    #[message(skip)]
    #[serde(skip)]
    cache: Option<Vec<u8>>,
}

fn payment() -> Payment {
    serde_json::from_str(r#"{"paymentId":"8f14","customer_id":3,"published_at":1}"#).unwrap()
}

#[idempotent(store = none, key = "msg:<payment.id>")]
fn by_its_id(payment: &Payment, #[key] key: &Key) -> Keyed {
    assert_eq!((payment.customer_id, payment.tag, payment.published_at), (3, 0, 1));
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = ["evt:<payment.event>", "msg:<payment.id>"])]
fn by_its_event_or_its_id(payment: &Payment, #[key] key: &Key) -> Keyed {
    assert!(payment.cache.is_none());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<payment.customer_id>:<payment.id>")]
fn identity_beside_payload(payment: &Payment, #[key] key: &Key) -> Keyed {
    assert!(payment.event.is_none());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<id>:<payment.customer_id>")]
fn identity_of_its_own_argument(id: u64, payment: &Payment, #[key] key: &Key) -> Keyed {
    assert!(id > 0 && payment.event.is_none());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "welcome:<payment.customer_id>", once_per = "customer")]
fn once_per_customer(payment: &Payment, #[key] key: &Key) -> Keyed {
    assert!(payment.event.is_none());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "at:<payment.published_at>:<payment.tag>", allow(facts_no_identity, reason = "a test"), allow(facts_per_delivery, reason = "a test"))]
fn allowed(payment: &Payment, #[key] key: &Key) -> Keyed {
    assert!(payment.event.is_none());
    Ok(key.as_str().to_owned())
}

#[derive(Message)]
struct Position(#[message(id)] u64, u64);

#[idempotent(store = none, key = "msg:<position.0>")]
fn of_a_tuple(position: &Position, #[key] key: &Key) -> Keyed {
    assert_eq!(position.1, 2);
    Ok(key.as_str().to_owned())
}

#[test]
fn a_key_with_the_identity_is_accepted() {
    let payment = payment();
    same_key(|| by_its_id(&payment), "msg:8f14");
    same_key(|| by_its_event_or_its_id(&payment), "msg:8f14");
    same_key(|| identity_beside_payload(&payment), "msg:3:8f14");
    same_key(|| identity_of_its_own_argument(7, &payment), "msg:7:3");
    same_key(|| once_per_customer(&payment), "welcome:3");
    same_key(|| allowed(&payment), "at:1:0");
    same_key(|| of_a_tuple(&Position(1, 2)), "msg:1");
    assert!(serde_json::to_string(&payment).is_ok());
}

//! Identities whose names sound like a queue's.

use idem::{Key, MemoryStore, Message, idempotent};

use crate::{Keyed, same_key};

#[derive(Message)]
struct Quote {
    #[message(id)]
    request_id: String,
    #[message(per_delivery)]
    uuid: String,
}

#[derive(Message)]
struct Sale {
    #[message(id)]
    receipt: String,
    #[message(per_delivery)]
    event_id: String,
}

#[idempotent(key = "quote:<quote.request_id>", store = store)]
fn a_request_that_keeps_its_id(quote: &Quote, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&quote.uuid, store);
    Ok(key.to_string())
}

#[idempotent(key = "sale:<sale.receipt>", store = store)]
fn a_receipt_of_a_shop(sale: &Sale, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&sale.event_id, store);
    Ok(key.to_string())
}

/// Read from what is called a message, the name needs a word of its reader's: names are judged before types are known.
#[idempotent(
    key = "msg:<message.receipt>",
    store = store,
    allow(key_per_delivery_name, reason = "a receipt of the shop's, and not of the queue's")
)]
fn a_receipt_in_a_message(message: &Sale, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&message.event_id, store);
    Ok(key.to_string())
}

#[test]
fn an_identity_may_have_a_name_that_a_queue_uses_too() {
    let store = MemoryStore::new();
    let quote = |uuid: &str| Quote { request_id: "q7".into(), uuid: uuid.into() };
    let sale = |event_id: &str| Sale { receipt: "r9".into(), event_id: event_id.into() };
    same_key(|| a_request_that_keeps_its_id(&quote("a"), &store), "quote:q7");
    same_key(|| a_receipt_of_a_shop(&sale("a"), &store), "sale:r9");
    same_key(|| a_receipt_in_a_message(&sale("b"), &store), "msg:r9");
}

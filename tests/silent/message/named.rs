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

/// What comes with the message by that name is the same when it comes again.
#[derive(Message)]
struct Parcel {
    #[message(id)]
    number: u64,
    traceparent: String,
    lease_id: u64,
    #[message(payload)]
    delivery_attempts: u8,
}

#[idempotent(key = "parcel:<parcel.number>", store = store)]
fn a_payload_that_sounds_like_a_queues(parcel: &Parcel, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&parcel.traceparent, parcel.lease_id, parcel.delivery_attempts, store);
    Ok(key.to_string())
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

/// Read from what is called a message, the name would be refused, had the message not said what it is.
#[idempotent(key = "msg:<message.receipt>", store = store)]
fn a_receipt_in_a_message(message: &Sale, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&message.event_id, store);
    Ok(key.to_string())
}

/// Beside the identity, and behind a pointer.
#[derive(Message)]
struct Reading {
    #[message(event)]
    trace_id: u64,
    #[message(published_at)]
    received_at: u64,
}

#[idempotent(key = "evt:<event.trace_id>:<event.received_at>", store = store)]
fn two_of_them(event: std::sync::Arc<Reading>, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (event, store);
    Ok(key.to_string())
}

/// Words of a payload, had the message not said that they are its identity.
#[derive(Message)]
struct Charge {
    #[message(id)]
    key: String,
    #[message(event)]
    order_id: u64,
}

#[derive(Message)]
struct Line {
    #[message(id)]
    sequence_number: u64,
    topic: String,
}

#[derive(Message)]
struct Upload {
    #[message(id)]
    fingerprint: String,
    tenant_id: u64,
}

#[idempotent(key = ["evt:<message.order_id>", "msg:<message.key>"], store = store)]
fn a_key_that_came_with_it(message: &Charge, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&message.key, store);
    Ok(key.to_string())
}

#[idempotent(key = "line:<line.topic>:<line.sequence_number>", store = store)]
fn a_number_of_one_stream(line: &Line, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&line.topic, store);
    Ok(key.to_string())
}

#[idempotent(key = "file:<upload.tenant_id>:<upload.fingerprint>", store = store)]
#[allow(clippy::needless_pass_by_value)]
fn a_digest_of_a_tenant(upload: Box<Upload>, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (&upload.fingerprint, store);
    Ok(key.to_string())
}

#[test]
fn an_identity_may_have_a_name_of_payload() {
    let store = MemoryStore::new();
    let charge = Charge { key: "k1".into(), order_id: 7 };
    same_key(|| a_key_that_came_with_it(&charge, &store), "evt:7");
    let line = Line { sequence_number: 4, topic: "t".into() };
    same_key(|| a_number_of_one_stream(&line, &store), "line:t:4");
    let upload = || Box::new(Upload { fingerprint: "f0".into(), tenant_id: 2 });
    same_key(|| a_digest_of_a_tenant(upload(), &store), "file:2:f0");
}

#[test]
fn an_identity_may_have_a_name_that_a_queue_uses_too() {
    let store = MemoryStore::new();
    let quote = |uuid: &str| Quote { request_id: "q7".into(), uuid: uuid.into() };
    let sale = |event_id: &str| Sale { receipt: "r9".into(), event_id: event_id.into() };
    let parcel = Parcel { number: 3, traceparent: "00-1".into(), lease_id: 1, delivery_attempts: 2 };
    same_key(|| a_payload_that_sounds_like_a_queues(&parcel, &store), "parcel:3");
    same_key(|| a_request_that_keeps_its_id(&quote("a"), &store), "quote:q7");
    same_key(|| a_receipt_of_a_shop(&sale("a"), &store), "sale:r9");
    let reading = std::sync::Arc::new(Reading { trace_id: 1, received_at: 2 });
    same_key(|| two_of_them(reading.clone(), &store), "evt:1:2");
    same_key(|| a_receipt_in_a_message(&sale("b"), &store), "msg:r9");
}

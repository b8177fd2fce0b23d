//! Messages as brokers hand them over: the field names are theirs.
//!
//! Copies, of crates that take long to build or build C (aws-sdk-sqs, google-cloud-pubsub, azservicebus, Event Hubs, rdkafka, pulsar, celery,
//! graphile). Handlers of the real types of others are in `tests/crates/brokers`.

use std::collections::BTreeMap;

use idem::{Key, idempotent};

use crate::{Keyed, same_key};

struct RabbitMq {
    message_id: Option<String>,
    delivery_tag: u64,
    redelivered: bool,
    routing_key: String,
}

#[idempotent(store = none, key = "amqp:<delivery.message_id>")]
fn rabbitmq(delivery: &RabbitMq, #[key] key: &Key) -> Keyed {
    assert!(delivery.delivery_tag > 0 && !delivery.redelivered && delivery.routing_key.is_empty());
    Ok(key.as_str().to_owned())
}

struct Sqs {
    message_id: Option<String>,
    receipt_handle: String,
    attributes: BTreeMap<String, String>,
    message_attributes: BTreeMap<String, String>,
}

#[idempotent(store = none, key = "sqs:<message.message_id>")]
fn sqs(message: &Sqs, #[key] key: &Key) -> Keyed {
    assert!(!message.receipt_handle.is_empty());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "sqs:<message.message_attributes[\"event-id\"]>")]
fn sqs_with_an_id_of_the_publisher(message: &Sqs, #[key] key: &Key) -> Keyed {
    assert!(!message.receipt_handle.is_empty());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "fifo:<message.attributes[\"MessageDeduplicationId\"]>")]
fn sqs_fifo(message: &Sqs, #[key] key: &Key) -> Keyed {
    assert!(!message.receipt_handle.is_empty());
    Ok(key.as_str().to_owned())
}

struct Kafka {
    topic: String,
    partition: i32,
    offset: i64,
    headers: BTreeMap<String, String>,
}

#[idempotent(store = none, key = "kafka:<record.topic>:<record.partition>:<record.offset>")]
fn kafka_position(record: &Kafka, #[key] key: &Key) -> Keyed {
    assert_eq!(record.offset, 7);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "kafka:<record.headers[\"ce_id\"]>")]
fn kafka_header(record: &Kafka, #[key] key: &Key) -> Keyed {
    assert_eq!(record.offset, 7);
    Ok(key.as_str().to_owned())
}

struct JetStream {
    stream: String,
    stream_sequence: u64,
    consumer_sequence: u64,
    delivered: i64,
}

#[idempotent(store = none, key = "js:<info.stream>:<info.stream_sequence>")]
fn jetstream(info: &JetStream, #[key] key: &Key) -> Keyed {
    assert!(info.consumer_sequence > 0 && info.delivered > 0);
    Ok(key.as_str().to_owned())
}

struct CloudEvent {
    source: String,
    id: String,
    r#type: String,
}

#[idempotent(store = none, key = "ce:<event.source>:<event.id>")]
fn cloud_event(event: &CloudEvent, #[key] key: &Key) -> Keyed {
    assert_eq!(event.r#type, "paid");
    Ok(key.as_str().to_owned())
}

struct Pgmq {
    msg_id: i64,
    read_ct: i32,
    vt: u64,
}

#[idempotent(store = none, key = "queue:<job.msg_id>")]
fn pgmq(job: &Pgmq, #[key] key: &Key) -> Keyed {
    assert!(job.read_ct > 0 && job.vt > 0);
    Ok(key.as_str().to_owned())
}

struct ServiceBus {
    message_id: Option<String>,
    session_id: String,
    lock_token: u128,
}

#[idempotent(store = none, key = "asb:<message.session_id>:<message.message_id>")]
fn service_bus(message: &ServiceBus, #[key] key: &Key) -> Keyed {
    assert!(message.lock_token > 0);
    Ok(key.as_str().to_owned())
}

struct Sidekiq {
    jid: String,
    retry_count: u32,
    enqueued_at: f64,
}

#[idempotent(store = none, key = "job:<job.jid>")]
fn sidekiq(job: &Sidekiq, #[key] key: &Key) -> Keyed {
    assert!(job.retry_count > 0 && job.enqueued_at > 0.0);
    Ok(key.as_str().to_owned())
}

struct Apalis {
    task_id: String,
    idempotency_key: Option<String>,
}

#[idempotent(store = none, key = ["key:<task.idempotency_key>", "task:<task.task_id>"])]
fn apalis(task: &Apalis, #[key] key: &Key) -> Keyed {
    assert!(task.idempotency_key.is_none());
    Ok(key.as_str().to_owned())
}

struct PubSub {
    message_id: String,
    ordering_key: String,
    publish_time: u64,
    attributes: BTreeMap<String, String>,
}

#[idempotent(store = none, key = "pubsub:<message.message_id>")]
fn pub_sub(message: &PubSub, #[key] key: &Key) -> Keyed {
    assert!(message.publish_time > 0 && message.ordering_key.is_empty() && message.attributes.is_empty());
    Ok(key.as_str().to_owned())
}

struct EventHubs {
    partition_id: String,
    sequence_number: Option<i64>,
    enqueued_time: u64,
}

#[idempotent(store = none, key = "hub:<event.partition_id>:<event.sequence_number>")]
fn event_hubs(event: &EventHubs, #[key] key: &Key) -> Keyed {
    assert!(event.enqueued_time > 0);
    Ok(key.as_str().to_owned())
}

struct Pulsar {
    topic: String,
    message_id: PulsarId,
}

struct PulsarId {
    ledger_id: u64,
    entry_id: u64,
    partition: i32,
    batch_index: i32,
    ack_set: [i64; 1],
}

#[idempotent(
    store = none,
    key = "pulsar:<m.topic>:<m.message_id.ledger_id>:<m.message_id.entry_id>:<m.message_id.partition>:<m.message_id.batch_index>"
)]
fn pulsar(m: &Pulsar, #[key] key: &Key) -> Keyed {
    assert_eq!(m.message_id.ack_set, [0]);
    Ok(key.as_str().to_owned())
}

struct Celery {
    id: String,
    retries: u32,
    eta: Option<u64>,
    origin: String,
}

#[idempotent(store = none, key = "task:<headers.id>")]
fn celery(headers: &Celery, #[key] key: &Key) -> Keyed {
    assert!(headers.retries == 0 && headers.eta.is_none() && headers.origin.is_empty());
    Ok(key.as_str().to_owned())
}

struct Graphile {
    id: i64,
    key: Option<String>,
    attempts: u16,
    locked_by: Option<String>,
}

#[idempotent(store = none, key = "graphile:<job.id>")]
fn graphile(job: &Graphile, #[key] key: &Key) -> Keyed {
    assert!(job.attempts == 1 && job.key.is_none() && job.locked_by.is_none());
    Ok(key.as_str().to_owned())
}

#[test]
fn what_brokers_keep_over_redeliveries_is_a_key() {
    let delivery = RabbitMq {
        message_id: Some("m".into()),
        delivery_tag: 1,
        redelivered: false,
        routing_key: String::new(),
    };
    same_key(|| rabbitmq(&delivery), "amqp:m");
    let one = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let message = Sqs {
        message_id: Some("m".into()),
        receipt_handle: "AQ".into(),
        attributes: one("MessageDeduplicationId", "d"),
        message_attributes: one("event-id", "e"),
    };
    same_key(|| sqs(&message), "sqs:m");
    same_key(|| sqs_with_an_id_of_the_publisher(&message), "sqs:e");
    same_key(|| sqs_fifo(&message), "fifo:d");
    let record = Kafka { topic: "t".into(), partition: 3, offset: 7, headers: one("ce_id", "c") };
    same_key(|| kafka_position(&record), "kafka:t:3:7");
    same_key(|| kafka_header(&record), "kafka:c");
    let info = JetStream { stream: "s".into(), stream_sequence: 9, consumer_sequence: 1, delivered: 1 };
    same_key(|| jetstream(&info), "js:s:9");
    let event = CloudEvent { source: "shop".into(), id: "e1".into(), r#type: "paid".into() };
    same_key(|| cloud_event(&event), "ce:shop:e1");
    same_key(|| pgmq(&Pgmq { msg_id: 4, read_ct: 1, vt: 1 }), "queue:4");
    let message = ServiceBus { message_id: Some("m".into()), session_id: "s".into(), lock_token: 1 };
    same_key(|| service_bus(&message), "asb:s:m");
    same_key(|| sidekiq(&Sidekiq { jid: "j".into(), retry_count: 1, enqueued_at: 1.0 }), "job:j");
    let message = PubSub {
        message_id: "m".into(),
        ordering_key: String::new(),
        publish_time: 1,
        attributes: BTreeMap::new(),
    };
    same_key(|| pub_sub(&message), "pubsub:m");
    let event = EventHubs { partition_id: "0".into(), sequence_number: Some(7), enqueued_time: 1 };
    same_key(|| event_hubs(&event), "hub:0:7");
    let message_id = PulsarId { ledger_id: 1, entry_id: 2, partition: -1, batch_index: 0, ack_set: [0] };
    let message = Pulsar { topic: "t".into(), message_id };
    same_key(|| pulsar(&message), "pulsar:t:1:2:-1:0");
    let headers = Celery { id: "c".into(), retries: 0, eta: None, origin: String::new() };
    same_key(|| celery(&headers), "task:c");
    same_key(|| graphile(&Graphile { id: 3, key: None, attempts: 1, locked_by: None }), "graphile:3");
    same_key(|| apalis(&Apalis { task_id: "t".into(), idempotency_key: None }), "task:t");
}

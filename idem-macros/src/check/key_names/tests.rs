//! Which names are refused, and which are left alone.

use crate::expanded;

/// The rules that a key breaks, in a function with these arguments.
fn rules(arguments: &str, key: &str, options: &str) -> Vec<String> {
    let attribute = format!("key = \"{}\"{options}", key.replace('"', "\\\""));
    let function = format!("fn handle({arguments}) -> Result<(), idem::Error> {{ Ok(()) }}");
    let out = expanded(attribute.parse().unwrap(), function.parse().unwrap()).to_string();
    out.split("rule: idem::errors::")
        .skip(1)
        .map(|rule| rule.split('"').next().unwrap_or_default().to_owned())
        // What is asked of types is in each expansion.
        .filter(|rule| !rule.starts_with("facts_"))
        .collect()
}

fn of_message(key: &str) -> Vec<String> {
    rules("message: Message", key, "")
}

const DELIVERY: &str = "key_per_delivery_name";
const PAYLOAD: &str = "key_payload_only";
const POSITION: &str = "key_position_alone";

#[test]
fn what_differs_per_delivery_is_refused_in_every_spelling() {
    for place in [
        "message.delivery_tag",
        "message.deliveryTag",
        "message.DeliveryTag",
        "message.meta.delivery_tag",
        "message.delivery_tag()",
        "message.delivery_tag.0",
        "message.receipt_handle.as_str()",
        "message.headers[\"x-delivery-count\"]",
        "message.attributes[\"ApproximateReceiveCount\"]",
        "message.properties.lock_token",
        "message.attempt_id",
        "message.request_id",
        "message.hostname",
    ] {
        for key in [format!("msg:<{place}>"), format!("msg:<message.id>:<{place}>")] {
            assert_eq!(of_message(&key), [DELIVERY], "{key}");
        }
    }
    assert_eq!(rules("delivery_tag: u64", "msg:<delivery_tag>", ""), [DELIVERY]);
    assert_eq!(rules("id: u64, attempt: u32", "msg:<id>:<attempt>", ""), [DELIVERY]);
}

#[test]
fn a_word_of_the_business_is_left_alone_where_the_key_is_about_the_business() {
    for (arguments, key) in [
        ("exam: Exam", "exam:<exam.attempt_id>"),
        ("payment: Payment", "transfer:<payment.nonce>"),
        ("parcel: Parcel", "parcel:<parcel.id>:<parcel.received_at>"),
        ("offer: Offer", "offer:<offer.id>:<offer.expires_at>"),
        ("booking: Booking", "booking:<booking.id>:<booking.host>"),
        ("run_id: String", "run:<run_id>"),
        ("request_id: String", "mint:<request_id>"),
        ("message: Message", "api:<message.idempotency_key>"),
        ("message: Message", "msg:<message.idempotency_key>"),
        ("message: Message", "msg:<message.nats_msg_id>"),
    ] {
        assert_eq!(rules(arguments, key, ""), [""; 0], "{key}");
    }
}

#[test]
fn payload_alone_is_refused_and_beside_an_id_it_is_not() {
    for key in [
        "charge:<message.customer_id>:<message.amount>",
        "charge:<message.customerId>",
        "welcome:<message.email>",
        "msg:<message.created_at>",
        "msg:<message.type>:<message.status>",
        "msg:<message.order_id>",
        "evt:<message.order_id>:<message.amount>",
        "msg:<message.md5_of_body>",
        "charge:<message.customer_id.to_string()>",
    ] {
        // A conversion has no proof, which is another mistake.
        assert!(of_message(key).contains(&PAYLOAD.to_owned()), "{key}: {:?}", of_message(key));
    }
    assert_eq!(rules("amount: u64", "charge:<amount>", ""), [PAYLOAD]);
    for key in [
        "charge:<message.id>",
        "charge:<message.customer_id>:<message.id>",
        "charge:<message.amount>:<message.uuid>",
        "charge:<message.charge_reference>:<message.amount>",
        "order-created:<message.order_id>",
        "order:<message.order_id>:<message.status>",
        "msg:<message.order_id>:<message.event_type>",
        "msg:<message.order_id>:<message.version>",
        "account:<message.account_id>:<message.date>",
        "order:<message.number>",
        "msg:<message.headers[\"event-id\"]>",
        "ce:<message.source>:<message.id>",
        "s3:<message.bucket>:<message.key>:<message.version_id>",
    ] {
        assert_eq!(of_message(key), [""; 0], "{key}");
    }
    assert_eq!(rules("date: Date", "run:<date>", ""), [""; 0]);
    assert_eq!(rules("message: Uuid", "msg:<message>", ""), [""; 0]);
}

#[test]
fn a_position_needs_its_row() {
    for key in [
        "msg:<message.offset>",
        "msg:<message.topic>:<message.offset>",
        "evt:<message.sequence>",
        "msg:<message.batch_index>",
        "evt:<message.event_type>:<message.version>",
    ] {
        assert_eq!(of_message(key), [POSITION], "{key}");
    }
    for key in [
        "kafka:<message.topic>:<message.partition>:<message.offset>",
        "js:<message.stream>:<message.stream_sequence>",
        "kinesis:<message.shard_id>:<message.sequence_number>",
        "order:<message.order_id>:<message.version>",
        "msg:<message.id>:<message.index>",
    ] {
        assert_eq!(of_message(key), [""; 0], "{key}");
    }
    assert_eq!(
        rules("topic: &str, partition: i32, offset: i64", "kafka:<topic>:<partition>:<offset>", ""),
        [""; 0]
    );
}

#[test]
fn each_rule_has_its_way_out_and_one_that_is_not_needed_is_told() {
    for (key, rule) in [
        ("msg:<message.delivery_tag>", DELIVERY),
        ("charge:<message.customer_id>:<message.amount>", PAYLOAD),
        ("msg:<message.offset>", POSITION),
    ] {
        let allow = format!(", allow({rule}, reason = \"the publisher says so\")");
        assert_eq!(rules("message: Message", key, &allow), [""; 0], "{key}");
        assert_eq!(rules("message: Message", "msg:<message.id>", &allow), ["allow_unused"], "{key}");
    }
    let once = ", once_per = \"customer\"";
    assert_eq!(rules("message: Message", "charge:<message.customer_id>:<message.amount>", once), [""; 0]);
    assert_eq!(rules("message: Message", "msg:<message.delivery_tag>", once), [DELIVERY]);
    let trust = ", trust(message.delivery_tag(), reason = \"it is ours\")";
    assert_eq!(rules("message: Message", "msg:<message.delivery_tag()>", trust), [""; 0]);
}

#[test]
fn what_is_known_from_a_broker_says_what_to_use_there() {
    let out = expanded(
        "key = \"msg:<delivery.delivery_tag>\"".parse().unwrap(),
        "fn handle(delivery: Delivery) -> Result<(), idem::Error> { Ok(()) }".parse().unwrap(),
    )
    .to_string();
    assert!(out.contains("is a handle of one delivery (RabbitMQ)"), "{out}");
    assert!(out.contains("on RabbitMQ use `properties.message_id()`"), "{out}");
}

#[test]
fn a_payload_has_nothing_of_the_delivery_either() {
    let payload = |place: &str| format!(", payload(message.amount, {place})");
    let of = |options: &str| rules("message: Message", "msg:<message.id>", options);
    assert_eq!(of(&payload("message.delivery_tag")), ["payload_per_attempt"]);
    assert_eq!(of(&payload("message.attempt_id")), [""; 0]);
    let allow = ", allow(payload_per_attempt, reason = \"a word of the courier's\")";
    assert_eq!(of(&(payload("message.delivery_tag") + allow)), [""; 0]);
}

#[test]
fn of_several_templates_each_is_looked_at() {
    let out = expanded(
        "key = [\"evt:<message.event>\", \"msg:<message.receipt_handle>\", \"c:<message.customer_id>:<message.amount>\"]"
            .parse()
            .unwrap(),
        "fn handle(message: Message) -> Result<(), idem::Error> { Ok(()) }".parse().unwrap(),
    )
    .to_string();
    assert_eq!(out.matches("compile_error").count(), 2, "{out}");
}

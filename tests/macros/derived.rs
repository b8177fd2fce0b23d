//! Messages that say what their fields are: their payload is compared under one key.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use futures::executor::block_on;
use idem::{ErrorKind, idempotent};

#[derive(idem::Message, Clone)]
struct Payment {
    #[message(id)]
    id: u64,
    #[message(event)]
    event: Option<String>,
    amount: u64,
    note: Option<String>,
    #[message(per_delivery)]
    tag: u64,
    #[message(published_at)]
    published: u64,
    #[message(skip)]
    cached: std::sync::Arc<std::sync::Mutex<u64>>,
}

fn payment(id: u64) -> Payment {
    Payment { id, event: None, amount: 1, note: None, tag: 1, published: 1, cached: Default::default() }
}

#[idempotent(key = "msg:<payment.id>")]
fn charge(payment: &Payment) -> Result<u64, idem::Error> {
    Ok(payment.amount)
}

#[test]
fn another_payload_under_one_identity_is_refused() {
    crate::install_store();
    assert_eq!(charge(&payment(1)).unwrap(), 1);
    for other in [Payment { amount: 2, ..payment(1) }, Payment { note: Some(String::new()), ..payment(1) }] {
        assert_eq!(charge(&other).unwrap_err().kind(), ErrorKind::Mismatch);
    }
}

#[test]
fn what_differs_per_delivery_is_not_compared() {
    crate::install_store();
    assert_eq!(charge(&payment(2)).unwrap(), 1);
    let again = Payment {
        event: Some("republished".to_owned()),
        tag: 2,
        published: 2,
        cached: Arc::new(std::sync::Mutex::new(2)),
        ..payment(2)
    };
    assert_eq!(charge(&again).unwrap(), 1);
}

#[idempotent(key = "msg:<payment.id>", payload = none)]
fn compares_nothing(payment: &Payment) -> Result<u64, idem::Error> {
    Ok(payment.amount)
}

#[idempotent(key = "msg:<payment.id>", payload(payment.note))]
fn compares_what_it_says(payment: &Payment) -> Result<u64, idem::Error> {
    Ok(payment.amount)
}

#[test]
fn a_handler_may_say_otherwise() {
    crate::install_store();
    let other = |id| Payment { amount: 2, ..payment(id) };
    assert_eq!(compares_nothing(&payment(3)).unwrap(), 1);
    assert_eq!(compares_nothing(&other(3)).unwrap(), 1);
    assert_eq!(compares_what_it_says(&payment(3)).unwrap(), 1);
    assert_eq!(compares_what_it_says(&other(3)).unwrap(), 1);
    let note = Payment { note: Some("x".to_owned()), ..payment(3) };
    assert_eq!(compares_what_it_says(&note).unwrap_err().kind(), ErrorKind::Mismatch);
}

#[idempotent(key = "large:<payment.amount>", once_per = "amount")]
fn once_per_amount(payment: &Payment) -> Result<u64, idem::Error> {
    Ok(payment.id)
}

#[test]
fn where_one_effect_for_several_messages_is_meant_they_are_not_compared() {
    crate::install_store();
    assert_eq!(once_per_amount(&payment(7)).unwrap(), 7);
    let other = Payment { note: Some("another".to_owned()), ..payment(8) };
    assert_eq!(once_per_amount(&other).unwrap(), 7);
}

struct Json<T>(T);

/// Under one name each, with one record each.
mod forms {
    use super::*;

    #[idempotent(key = "msg:<payment.id>")]
    pub fn by_value(payment: Payment) -> Result<u64, idem::Error> {
        Ok(payment.amount)
    }

    #[idempotent(key = "msg:<payment.id>")]
    pub async fn in_an_arc(payment: Arc<Payment>) -> Result<u64, idem::Error> {
        Ok(payment.amount)
    }

    #[idempotent(key = "msg:<payment.id>")]
    pub async fn in_a_wrapper(Json(payment): Json<Payment>) -> Result<u64, idem::Error> {
        Ok(payment.amount)
    }

    #[idempotent(key = "msg:<payment.id>", scope = "derived.receiver")]
    pub async fn in_a_box(mut payment: Box<Payment>) -> Result<u64, idem::Error> {
        payment.amount += 0;
        Ok(payment.amount)
    }
}

#[test]
fn it_is_the_same_behind_pointers_and_in_wrappers() {
    crate::install_store();
    let other = Payment { amount: 2, ..payment(4) };
    let handlers: [&dyn Fn(Payment) -> Result<u64, idem::Error>; 4] = [
        &forms::by_value,
        &|payment| block_on(forms::in_an_arc(Arc::new(payment))),
        &|payment| block_on(forms::in_a_wrapper(Json(payment))),
        &|payment| block_on(forms::in_a_box(Box::new(payment))),
    ];
    for (at, handler) in handlers.iter().enumerate() {
        assert_eq!(handler(payment(4)).unwrap(), 1, "form {at}");
        assert_eq!(handler(payment(4)).unwrap(), 1, "form {at}");
        assert_eq!(handler(other.clone()).unwrap_err().kind(), ErrorKind::Mismatch, "form {at}");
    }
}

#[derive(idem::Message)]
enum OrderEvent {
    Created {
        #[message(id)]
        id: u64,
        amount: u64,
    },
    Renamed(#[message(id)] u64, String),
    Cancelled(#[message(id)] u64),
}

impl OrderEvent {
    const fn id(&self) -> u64 {
        match self {
            Self::Created { id, .. } | Self::Renamed(id, _) | Self::Cancelled(id) => *id,
        }
    }
}

#[idempotent(key = "evt:<event.id()>")]
fn apply(event: &OrderEvent) -> Result<u64, idem::Error> {
    Ok(event.id())
}

#[test]
fn of_an_enum_the_variant_counts_too() {
    crate::install_store();
    let created = |amount| OrderEvent::Created { id: 5, amount };
    assert_eq!(apply(&created(1)).unwrap(), 5);
    assert_eq!(apply(&created(1)).unwrap(), 5);
    for other in [created(2), OrderEvent::Renamed(5, String::new()), OrderEvent::Cancelled(5)] {
        assert_eq!(apply(&other).unwrap_err().kind(), ErrorKind::Mismatch);
    }
    assert_eq!(apply(&OrderEvent::Cancelled(6)).unwrap(), 6);
    assert_eq!(apply(&OrderEvent::Cancelled(6)).unwrap(), 6);
}

/// The same on the wire, and renamed in the code.
mod renamed {
    #[derive(idem::Message)]
    pub struct Payment {
        #[message(id)]
        pub id: u64,
        pub amount: u64,
    }

    #[derive(idem::Message, serde::Serialize)]
    pub struct Charge {
        #[message(id)]
        pub id: u64,
        #[serde(rename = "amount")]
        pub cents: u64,
    }

    #[derive(idem::Message)]
    pub struct Other {
        #[message(id)]
        pub id: u64,
        pub cents: u64,
    }
}

/// What two deliveries are compared by.
fn fingerprint(message: &impl idem::Message) -> idem::Fingerprint {
    let mut payload = idem::__private::Payload::new();
    message.__payload(&mut payload);
    payload.finish().unwrap().unwrap()
}

#[test]
fn names_on_the_wire_count_and_the_name_of_the_type_does_not() {
    let payment = renamed::Payment { id: 1, amount: 1 };
    assert_eq!(fingerprint(&payment), fingerprint(&renamed::Charge { id: 2, cents: 1 }));
    assert_ne!(fingerprint(&payment), fingerprint(&renamed::Charge { id: 1, cents: 2 }));
    assert_ne!(fingerprint(&payment), fingerprint(&renamed::Other { id: 1, cents: 1 }));
}

/// What serde is told about how a field is sent.
mod forms_on_the_wire {
    use std::time::Instant;

    /// A type that is no `Serialize`.
    pub struct Money(pub u64);

    pub mod cents {
        pub fn serialize<S: serde::Serializer>(money: &super::Money, to: S) -> Result<S::Ok, S::Error> {
            to.serialize_u64(money.0)
        }
    }

    #[derive(idem::Message, serde::Serialize)]
    pub struct Payment {
        #[message(id)]
        pub id: u64,
        #[serde(with = "cents")]
        pub amount: Money,
        #[serde(serialize_with = "cents::serialize")]
        pub fee: Money,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub note: Option<u64>,
        #[serde(skip)]
        pub received: Option<Instant>,
    }

    #[derive(idem::Message, serde::Serialize)]
    pub struct Older {
        #[message(id)]
        pub id: u64,
        #[serde(with = "cents")]
        pub amount: Money,
        pub fee: u64,
    }
}

#[test]
fn fields_count_in_the_form_that_they_are_sent_in() {
    use forms_on_the_wire::{Money, Older, Payment};
    let payment = |fee, note, received| {
        fingerprint(&Payment { id: 1, amount: Money(1), fee: Money(fee), note, received })
    };
    assert_eq!(payment(2, None, None), fingerprint(&Older { id: 1, amount: Money(1), fee: 2 }));
    assert_eq!(payment(2, None, None), payment(2, None, Some(std::time::Instant::now())));
    assert_ne!(payment(2, None, None), payment(3, None, None));
    assert_ne!(payment(2, None, None), payment(2, Some(1), None));
}

/// The format may not change: the redeliveries of a deploy would be mismatches.
#[test]
fn the_fingerprint_of_a_message_is_that_of_its_fields_in_order() {
    #[derive(serde::Serialize)]
    #[serde(rename = "")]
    struct Fields {
        amount: u64,
        cents: Option<u64>,
    }
    #[derive(idem::Message)]
    struct Whole {
        amount: u64,
        #[message(id)]
        #[allow(dead_code)]
        id: u64,
        cents: Option<u64>,
    }
    let fields = Fields { amount: 1, cents: Some(2) };
    let whole = Whole { amount: 1, id: 7, cents: Some(2) };
    assert_eq!(idem::Fingerprint::of(&fields).unwrap(), fingerprint(&whole));
}

#[derive(idem::Message)]
struct Envelope<T> {
    #[message(id)]
    id: u64,
    body: T,
}

#[idempotent(key = "msg:<envelope.id>", scope = "derived.envelope")]
fn of_any_body<T: serde::Serialize>(envelope: &Envelope<T>) -> Result<u64, idem::Error> {
    let _ = &envelope.body;
    Ok(envelope.id)
}

#[test]
fn a_generic_message_is_compared_where_its_body_can_be() {
    crate::install_store();
    assert_eq!(of_any_body(&Envelope { id: 1, body: "a" }).unwrap(), 1);
    assert_eq!(of_any_body(&Envelope { id: 1, body: "b" }).unwrap_err().kind(), ErrorKind::Mismatch);
}

#[idempotent(key = "pair:<first.id>:<second.id>")]
fn of_two(first: &Payment, second: &Payment) -> Result<u64, idem::Error> {
    Ok(first.amount + second.amount)
}

#[test]
fn of_two_messages_both_count() {
    crate::install_store();
    let other = |id| Payment { amount: 2, ..payment(id) };
    assert_eq!(of_two(&payment(1), &payment(2)).unwrap(), 2);
    assert_eq!(of_two(&payment(1), &payment(2)).unwrap(), 2);
    assert_eq!(of_two(&other(1), &payment(2)).unwrap_err().kind(), ErrorKind::Mismatch);
    assert_eq!(of_two(&payment(1), &other(2)).unwrap_err().kind(), ErrorKind::Mismatch);
}

/// Of a set without an order, what is compared has to be put into one.
#[derive(idem::Message, serde::Serialize)]
struct Labelled {
    #[message(id)]
    id: u64,
    #[serde(serialize_with = "sorted")]
    labels: HashSet<u64>,
    #[message(skip)]
    cached: HashSet<u64>,
    #[message(payload)]
    of_one: HashSet<u64>,
}

fn sorted<S: serde::Serializer>(labels: &HashSet<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(labels.iter().collect::<BTreeSet<_>>())
}

#[test]
fn a_set_is_compared_where_its_message_gives_it_an_order() {
    // Each has an order of its own, and of these many two are never alike by chance.
    let message = |last| {
        let labels = (0..100).chain([last]).collect();
        Labelled { id: 1, labels, cached: (0..last).collect(), of_one: HashSet::from([1]) }
    };
    assert_eq!(fingerprint(&message(100)), fingerprint(&message(100)));
    assert_ne!(fingerprint(&message(100)), fingerprint(&message(101)));
}

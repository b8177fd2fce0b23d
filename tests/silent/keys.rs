//! Keys of all that a part can be.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;

use idem::{Key, KeyPart, KeyWriter, idempotent};
use uuid::Uuid;

use super::{Keyed, same_key};

/// An id of somebody else's type: a newtype makes it a part.
struct MessageId(Uuid);

impl KeyPart for MessageId {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.display(self.0);
    }
}

struct Message {
    id: MessageId,
    event: Option<String>,
    digest: [u8; 2],
    number: NonZero<u64>,
    shared: Arc<str>,
    r#type: Cow<'static, str>,
    headers: BTreeMap<String, String>,
}

fn message() -> Message {
    Message {
        id: MessageId(Uuid::from_u128(0x8f14)),
        event: None,
        digest: [0xab, 0x01],
        number: NonZero::<u64>::MIN,
        shared: "shared".into(),
        r#type: "paid".into(),
        headers: BTreeMap::from([("event-id".to_owned(), "e1".to_owned())]),
    }
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn uuid_in_a_newtype(message: &Message, #[key] key: &Key) -> Keyed {
    assert!(!message.id.0.is_nil());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = ["evt:<message.event>", "msg:<message.number>"])]
fn first_with_all_its_parts(message: &Message, #[key] key: &Key) -> Keyed {
    assert!(message.event.is_none());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "sha:<digest>")]
fn bytes_of_any_number(digest: &Vec<u8>, #[key] key: &Key) -> Keyed {
    assert!(digest.capacity() >= 2);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "sha:<message.digest>:<message.shared>")]
fn bytes_and_shared_text(message: &Message, #[key] key: &Key) -> Keyed {
    assert_eq!(message.digest.len(), 2);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "evt:<message.type>:<message.headers[\"event-id\"]>")]
fn raw_identifier_and_header(message: &Message, #[key] key: &Key) -> Keyed {
    assert_eq!(message.r#type, "paid");
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<pair.0>:<ids[1]>")]
fn indices(pair: (u64, bool), ids: [u64; 2], #[key] key: &Key) -> Keyed {
    assert!(pair.1 && ids[0] == 1);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<number>")]
fn binding_of_a_pattern((number, _amount): (u64, u64), #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "tick:<now>")]
fn an_argument_called_now(now: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "order:<*order>")]
fn through_a_reference(order: &u128, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, scope = "silent.shard", key = "shard:<N>:<order>")]
fn const_parameter_beside_the_message<const N: usize>(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "log.v2_a-b:now():Uuid::new_v4():<order>->>{order}")]
fn calls_that_are_only_text(order: u64, #[key] key: &Key) -> Keyed {
    Ok(key.as_str().to_owned())
}

#[test]
fn parts_are_what_the_message_brought() {
    let message = message();
    same_key(|| uuid_in_a_newtype(&message), "msg:00000000-0000-0000-0000-000000008f14");
    same_key(|| first_with_all_its_parts(&message), "msg:1");
    same_key(|| bytes_of_any_number(&vec![0xab, 0x01]), "sha:ab01");
    same_key(|| bytes_and_shared_text(&message), "sha:ab01:shared");
    same_key(|| raw_identifier_and_header(&message), "evt:paid:e1");
    same_key(|| indices((7, true), [1, 2]), "order:7:2");
    same_key(|| binding_of_a_pattern((7, 1200)), "order:7");
    same_key(|| an_argument_called_now(1_764_460_800), "tick:1764460800");
    same_key(|| through_a_reference(&7), "order:7");
    same_key(|| const_parameter_beside_the_message::<3>(7), "shard:3:7");
    same_key(|| calls_that_are_only_text(7), "log.v2_a-b:now():Uuid::new_v4():7->{order}");
}

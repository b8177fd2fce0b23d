//! Messages with lifetimes and type parameters.

use idem::{Key, Message, idempotent};
use serde::Serialize;

use crate::{Keyed, same_key};

#[derive(Message)]
struct Borrowed<'a> {
    #[message(id)]
    id: &'a str,
    note: &'a str,
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn borrowed<'a>(message: &'a Borrowed<'a>, #[key] key: &Key) -> Keyed {
    assert!(message.note.is_empty());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<message.id>")]
fn elided(message: &Borrowed<'_>, #[key] key: &Key) -> Keyed {
    assert!(message.note.is_empty());
    Ok(key.as_str().to_owned())
}

#[derive(Message)]
struct Envelope<T> {
    #[message(id)]
    id: u64,
    body: T,
}

#[idempotent(store = none, key = "msg:<envelope.id>")]
fn of_a_known_body(envelope: &Envelope<String>, #[key] key: &Key) -> Keyed {
    assert!(envelope.body.is_empty());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "msg:<envelope.id>", scope = "silent.any_body")]
fn of_any_body<T: Serialize>(envelope: &Envelope<T>, #[key] key: &Key) -> Keyed {
    assert!(serde_json::to_string(&envelope.body).is_ok());
    Ok(key.as_str().to_owned())
}

/// Its body cannot be compared, so it is no message there, and nothing is asked of it.
#[idempotent(store = none, key = "msg:<envelope.id>", scope = "silent.opaque_body")]
fn of_a_body_that_cannot_be_compared<T>(envelope: &Envelope<T>, #[key] key: &Key) -> Keyed {
    let _ = &envelope.body;
    Ok(key.as_str().to_owned())
}

/// Whether it is a message cannot be known before it is called.
#[idempotent(store = none, key = "msg:<id>", scope = "silent.any_message")]
fn beside_any_message<M: Message>(id: u64, message: &M, #[key] key: &Key) -> Keyed {
    let _ = (id, message);
    Ok(key.as_str().to_owned())
}

struct Worker<T>(T);

impl<T: Serialize> Worker<T> {
    #[idempotent(store = none, key = "msg:<envelope.id>", scope = "silent.worker")]
    fn in_a_generic_impl(&self, envelope: &Envelope<T>, #[key] key: &Key) -> Keyed {
        assert!(serde_json::to_string(&(&self.0, &envelope.body)).is_ok());
        Ok(key.as_str().to_owned())
    }
}

#[test]
fn parameters_change_nothing() {
    let message = Borrowed { id: "a", note: "" };
    same_key(|| borrowed(&message), "msg:a");
    same_key(|| elided(&message), "msg:a");
    let envelope = Envelope { id: 1, body: String::new() };
    same_key(|| of_a_known_body(&envelope), "msg:1");
    same_key(|| of_any_body(&envelope), "msg:1");
    same_key(|| of_a_body_that_cannot_be_compared(&envelope), "msg:1");
    same_key(|| beside_any_message(2, &envelope), "msg:2");
    same_key(|| Worker(String::new()).in_a_generic_impl(&envelope), "msg:1");
}

//! Methods in keys: proved by the compiler, or vouched for by a person.

use idem::{Key, idempotent};

use super::{Keyed, same_key};

struct Envelope<T> {
    offset: u64,
    sent_at: u64,
    name: String,
    body: T,
}

impl<T> Envelope<T> {
    const fn offset(&self) -> u64 {
        self.offset
    }

    const fn body(&self) -> &T {
        &self.body
    }

    /// When it was sent: the name lies.
    const fn now(&self) -> u64 {
        self.sent_at
    }

    /// The time between two things of the past.
    const fn elapsed(&self) -> u64 {
        self.sent_at - self.offset
    }

    /// Takes the envelope off, and never panics.
    const fn unwrap(&self) -> &T {
        &self.body
    }

    /// Not `const`, for no reason that a caller could see.
    fn partition(&self) -> u64 {
        self.offset % 8
    }
}

struct Charge {
    number: u64,
}

impl Charge {
    const fn number(&self) -> u64 {
        self.number
    }
}

fn message() -> Envelope<Charge> {
    Envelope { offset: 17, sent_at: 20, name: " Acme ".to_owned(), body: Charge { number: 3 } }
}

#[idempotent(store = none, key = "log:<message.offset()>")]
fn const_getter(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.offset(), 17);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "charge:<message.body().number()>")]
fn chain_of_const_getters(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.body().number(), 3);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, scope = "silent.generic", key = "log:<message.offset()>")]
fn const_getter_of_a_generic_type<T: Clone>(message: &Envelope<T>, #[key] key: &Key) -> Keyed {
    let _body = message.body.clone();
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "name:<message.name.as_str()>:<message.name.len()>")]
fn const_methods_of_the_standard_library(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert!(!message.name.is_empty());
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "log:<message.now()>", allow(key_per_attempt, reason = "the broker's time of sending"))]
fn name_that_lies(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.now(), 20);
    Ok(key.as_str().to_owned())
}

#[idempotent(
    store = idem::MemoryStore::new(),
    key = "log:<message.offset()>",
    payload(message.elapsed()),
    allow(payload_per_attempt, reason = "both times are in the message"),
)]
fn name_that_lies_in_the_payload(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.elapsed(), 3);
    Ok(key.as_str().to_owned())
}

#[idempotent(store = none, key = "log:<message.partition()>", trust(message.partition(), reason = "arithmetic of the offset"))]
fn trusted_getter(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.partition(), 1);
    Ok(key.as_str().to_owned())
}

#[idempotent(
    store = none,
    key = "name:<message.name.trim()>:<message.name.to_lowercase()>",
    trust(message.name.trim(), reason = "text without blanks stays what it is"),
    trust(message.name.to_lowercase(), reason = "ASCII names only, checked at the door"),
)]
fn trusted_text(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.name.len(), 6);
    Ok(key.as_str().to_owned())
}

#[idempotent(
    store = none,
    key = "charge:<message.unwrap().number>",
    trust(message.unwrap().number, reason = "a method of ours that never panics"),
)]
fn trusted_not_to_panic(message: &Envelope<Charge>, #[key] key: &Key) -> Keyed {
    assert_eq!(message.unwrap().number(), 3);
    Ok(key.as_str().to_owned())
}

struct Clocked {
    clock: Envelope<u8>,
}

impl Clocked {
    #[idempotent(
        store = none,
        scope = "silent.clocked",
        key = "log:<order>:<self.clock.now()>",
        trust(self.clock.now(), reason = "a fixed clock, set at start"),
    )]
    fn trusted_in_spite_of_its_name(&self, order: u64, #[key] key: &Key) -> Keyed {
        assert_eq!(self.clock.now(), 20);
        Ok(key.as_str().to_owned())
    }
}

#[test]
fn methods_that_are_proved_or_trusted_pass() {
    let message = &message();
    same_key(|| const_getter(message), "log:17");
    same_key(|| chain_of_const_getters(message), "charge:3");
    let text = Envelope { offset: 17, sent_at: 20, name: String::new(), body: "text" };
    same_key(|| const_getter_of_a_generic_type(&text), "log:17");
    same_key(|| const_methods_of_the_standard_library(message), "name:%20Acme%20:6");
    same_key(|| name_that_lies(message), "log:20");
    same_key(|| name_that_lies_in_the_payload(message), "log:17");
    same_key(|| trusted_getter(message), "log:1");
    same_key(|| trusted_text(message), "name:Acme:%20acme%20");
    same_key(|| trusted_not_to_panic(message), "charge:3");
    let clocked = Clocked { clock: Envelope { offset: 1, sent_at: 20, name: String::new(), body: 0 } };
    same_key(|| clocked.trusted_in_spite_of_its_name(7), "log:7:20");
}

//! Handlers of every shape that can be in the table: `tests/table.rs` says what it has of them, and `idem.lock` is what a team would
//! check in. No prelude, so that the entries have to name all that they use.
#![no_implicit_prelude]

use ::idem::{Error, MemoryStore, idempotent};
use ::std::clone::Clone;
use ::std::convert::From;
use ::std::fmt::Debug;
use ::std::option::Option;
use ::std::result::Result::{self, Ok};

pub mod everywhere;

/// A message.
#[derive(Clone, Debug)]
pub struct Payment {
    /// Its identity.
    pub id: u64,
    /// The event that it tells of, where there is one.
    pub event: Option<u64>,
    /// What it is about.
    pub amount: u64,
}

impl Payment {
    /// The broker's number.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.id
    }
}

/// Nothing but a key.
///
/// # Errors
/// idem's own.
#[idempotent(key = "msg:<payment.id>")]
pub async fn charge(payment: Payment) -> Result<u64, Error> {
    Ok(payment.amount)
}

/// Much that can be said.
///
/// # Errors
/// idem's own.
#[idempotent(
    key = ["evt:<payment.event>", "log:<payment.offset()>"],
    store = & stores [ 0 ],
    scope = "billing.refund",
    scope_was = ["refund", "billing.repay"],
    ttl = "36h",
    keep = "60d",
    redelivery = "1 day",
    lease = "10s",
    max_hold = "1min",
    max_tries = 3,
    payload(payment.amount, payment.id),
    on_lapse = "park",
    on_duplicate = wait("5s"),
    final_error = Refused :: is_final,
    require = "any",
    trust(payment.offset(), reason = "the broker's,\nfor \"ever\""),
)]
pub fn refund(payment: &Payment, stores: &[MemoryStore]) -> Result<u64, Refused> {
    Ok(payment.amount)
}

/// An error worth remembering.
#[derive(Debug, ::serde::Serialize, ::serde::Deserialize)]
pub struct Refused;

impl From<Error> for Refused {
    fn from(_: Error) -> Self {
        Self
    }
}

impl Refused {
    /// Whether it is.
    fn is_final(&self) -> bool {
        let Self = self;
        true
    }
}

/// One effect for each customer, a store that has to last, and a worker that may lose it.
///
/// # Errors
/// idem's own.
#[idempotent(
    key = "welcome:<customer>",
    once_per = "customer",
    mode = "at_most_once",
    require = "durable",
    payload = none
)]
pub async fn welcome(customer: u64) -> Result<(), Error> {
    let _ = customer;
    Ok(())
}

/// A key alone, by a name that would be refused.
///
/// # Errors
/// idem's own.
#[idempotent(
    key = "msg:<delivery_tag>",
    store = none,
    allow(key_per_delivery_name, reason = "the publisher's own number, badly named")
)]
pub async fn forward(delivery_tag: u64, #[key] key: &::idem::Key) -> Result<usize, Error> {
    Ok(key.as_str().len())
}

//! The shapes of `tests/macros`, compiled once more as an old edition: closures capture whole variables, temporaries live longer, and
//! the body of an unsafe function is an unsafe block.
#![allow(dead_code, unreachable_pub, clippy::all, reason = "handlers as people write them")]

#[path = "../../../macros/attributes.rs"]
mod attributes;
#[path = "../../../macros/bodies.rs"]
mod bodies;
#[path = "../../../macros/derived.rs"]
mod derived;
#[path = "../../../keys/derived.rs"]
mod derived_keys;
#[path = "../../../macros/editions.rs"]
mod editions;
#[path = "../../../macros/fragments.rs"]
mod fragments;
#[path = "../../../macros/futures.rs"]
mod futures;
#[path = "../../../macros/generics.rs"]
mod generics;
#[path = "../../../macros/keys.rs"]
mod keys;
#[path = "../../../macros/lints.rs"]
mod lints;
#[path = "../../../macros/message.rs"]
mod message;
#[path = "../../../macros/names.rs"]
mod names;
#[path = "../../../macros/options.rs"]
mod options;
#[path = "../../../keys/outside.rs"]
mod outside_keys;
#[path = "../../../macros/parameters.rs"]
mod parameters;
#[path = "../../../macros/receivers.rs"]
mod receivers;
#[path = "../../../macros/returns.rs"]
mod returns;

use idem::idempotent;
pub use message::{Error, Message};

/// Gives the handlers their store, once.
fn install_store() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| idem::install(idem::MemoryStore::new()));
}

/// `unsafe fn`, sync and async, whose bodies need no block.
mod unsafe_functions {
    use crate::{Error, Message, idempotent};

    unsafe fn raw() -> u64 {
        1
    }

    /// # Safety
    /// None.
    #[idempotent(key = "msg:<message.id>")]
    pub async unsafe fn a(message: Message) -> Result<u64, Error> {
        Ok(message.amount + raw())
    }

    /// # Safety
    /// None.
    #[idempotent(key = "msg:<message.id>")]
    pub unsafe fn b(message: Message) -> Result<u64, Error> {
        Ok(message.amount + raw())
    }
}

//! Function shapes that break attributes which rewrite functions: each compiles as the plain function does, without a warning,
//! and those with a test run as they should.
//!
//! The handlers are written as people write them, and most are never called.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::style,
    clippy::complexity,
    reason = "handlers as people write them"
)]

mod attributes;
mod bodies;
mod derived;
mod editions;
mod fragments;
mod futures;
mod generics;
mod keys;
mod lints;
mod message;
mod names;
mod options;
mod parameters;
mod receivers;
mod returns;

use idem::idempotent;
pub use message::{Error, Message};

/// Gives the handlers their store, once: another one would not know what the tests beside have done.
fn install_store() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| idem::install(idem::MemoryStore::new()));
}

//! Handlers that look suspicious and are right: each compiles without an error or a warning, and gives one key on both attempts.
#![deny(warnings)]

mod bodies;
mod body;
mod getters;
mod keys;
mod message;
mod names;
mod options;
mod parts;
mod transactions;

/// What a handler hands back here: its key.
type Keyed = Result<String, idem::Error>;

/// Asserts that two deliveries have the same key, and which.
#[track_caller]
fn same_key(handler: impl Fn() -> Keyed, expected: &str) {
    for delivery in ["first", "second"] {
        assert_eq!(handler().expect("it has all its parts"), expected, "{delivery} delivery");
    }
}

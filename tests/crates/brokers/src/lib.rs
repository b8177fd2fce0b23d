//! Handlers of messages as their brokers' own crates hand them over. That they compile without an error or a warning is one test; that
//! a second delivery has the same key, and another message another one, is the other (`tests/`).

pub mod cloudevents;
pub mod lambda;
pub mod mqtt;
pub mod nats;
pub mod rabbitmq;
pub mod redis;

/// What a handler hands back here: its key.
pub type Keyed = Result<String, idem::Error>;

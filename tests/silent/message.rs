//! Keys of messages, with and without facts.

mod brokers;
mod composite;
mod derived;
mod enums;
mod generics;
mod named;
mod pointers;

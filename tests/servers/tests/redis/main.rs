//! `RedisStore` against real servers: the conformance suite, and what goes wrong with servers and networks.
//!
//! Faults have their numbers in the names of their tests.

mod bad_input;
mod claims;
mod clocks;
mod clusters;
mod conformance;
mod ended;
mod full;
mod handlers;
mod lost;
mod messages;
mod nodes;
mod opened;
mod place;
mod redirected;
mod replicas;
mod runtimes;
mod sentinels;
mod storms;
mod together;

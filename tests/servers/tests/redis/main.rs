//! `RedisStore` against real servers: the conformance suite, and what goes wrong with servers and networks.

mod conformance;
mod place;

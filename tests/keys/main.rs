//! Keys outside of handlers, and types that are parts of keys by derive: their texts, as they have to stay.
#![allow(missing_docs, clippy::pedantic, reason = "types as people write them")]

mod derived;
mod outside;

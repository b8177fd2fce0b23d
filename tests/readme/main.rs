//! The code that the README shows, compiled and run: each of its blocks is in one of these files, which add what it leaves out.
#![allow(missing_docs, dead_code, clippy::pedantic, reason = "code as a newcomer reads it")]

mod at_start;
mod batch;
mod handler;
mod message;
mod no_macro;
mod outcome;
mod queue;
mod shown;
mod transaction;

/// Most examples use the store that is installed, as most programs do.
fn install() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| idem::install(idem::MemoryStore::new()));
}

//! What the benches of stores have in common: messages to ask about, and times of two sides that take turns.

mod messages;
mod pairs;

pub use messages::{Key, claim, completion, fence, keys};
pub use pairs::{Pairs, median, per_message};

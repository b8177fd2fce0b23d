//! The group `batch`: many claims, or many completions, in one call.

mod claims;
mod completions;

pub use claims::*;
pub use completions::*;

//! The group `batch`: many claims, or many ends, in one call.

mod claims;
mod completions;
mod ends;

pub use claims::*;
pub use completions::*;
pub use ends::*;

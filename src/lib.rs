//! What happens if this handler runs twice?
#![forbid(unsafe_code)]
pub use idem_core::*;

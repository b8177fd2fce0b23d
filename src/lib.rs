//! What happens if this handler runs twice?
#![forbid(unsafe_code)]

pub use idem_core::*;

#[doc(hidden)]
pub mod __private {
    pub use idem_core::private::*;
}

//! What `#[idempotent]` expands to. Not for hand-written code, and free to change in any release.

pub use crate::answer::{Codec, codec};
pub use crate::call::Call;
pub use crate::run::{Run, run, run_blocking};
pub use crate::store::{StoreHandle, ToStoreHandle};

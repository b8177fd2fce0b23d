//! The group `clock`: instants on the dot, with a clock that stands still until a check moves it.

mod boundaries;
mod model;
mod times;

pub use boundaries::*;
pub use model::*;
pub use times::*;

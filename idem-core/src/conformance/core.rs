//! The group `core`: what every store must do.
//!
//! Nothing here depends on a clock that can be moved. Where a lease must have ended, it is granted with no length at all.

mod claims;
mod endings;
mod hostile;
mod model;
mod operator;
mod ownership;
mod payloads;
mod races;
mod replies;
mod resent;
mod results;
mod tries;

pub use claims::*;
pub use endings::*;
pub use hostile::*;
pub use model::*;
pub use operator::*;
pub use ownership::*;
pub use payloads::*;
pub use races::*;
pub use replies::*;
pub use resent::*;
pub use results::*;
pub use tries::*;

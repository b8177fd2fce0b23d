//! What a team's own tests ask of its handlers.

mod lock;

pub use lock::assert_keys_locked;

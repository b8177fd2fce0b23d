//! What comes out of a handler, for those who ask.

use std::time::Duration;

/// What a handler's run came to. Return `Result<Outcome<T>, E>` to see it; `Result<T, E>` hides it.
///
/// In the body, make one with `Ok(value.into())`; the driver sets `recorded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The body ran, now.
    Executed {
        /// Its value.
        value: T,
        /// Whether the store knows that the work is done (of a result over 64 KiB it keeps no more than that). If not, the work is done all the same: acknowledge the message, and look at the store.
        recorded: bool,
    },
    /// A former run's value; the body did not run.
    Replayed {
        /// The value.
        value: T,
        /// How long ago it was recorded.
        age: Duration,
    },
    /// A seen set of this process knows the message; neither the body nor the store was asked.
    Skipped {
        /// The value.
        value: T,
    },
}

impl<T> Outcome<T> {
    /// The value.
    pub fn into_value(self) -> T {
        match self {
            Self::Executed { value, .. } | Self::Replayed { value, .. } | Self::Skipped { value } => value,
        }
    }

    /// The value.
    pub const fn value(&self) -> &T {
        match self {
            Self::Executed { value, .. } | Self::Replayed { value, .. } | Self::Skipped { value } => value,
        }
    }

    /// Whether the body ran, now.
    pub const fn is_executed(&self) -> bool {
        matches!(self, Self::Executed { .. })
    }
}

impl<T> From<T> for Outcome<T> {
    fn from(value: T) -> Self {
        Self::Executed { value, recorded: false }
    }
}

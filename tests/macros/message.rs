//! What the handlers of these tests take and return.

/// The message that the handlers take.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// Id that stays the same on redelivery.
    pub id: String,
    /// Amount.
    pub amount: u64,
}

/// The handlers' error.
#[derive(Debug, Clone)]
pub struct Error(pub String);

impl Error {
    /// Makes one.
    #[must_use]
    pub fn new(message: &str) -> Self {
        Self(message.to_owned())
    }
}

impl From<idem::Error> for Error {
    fn from(error: idem::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<std::num::ParseIntError> for Error {
    fn from(error: std::num::ParseIntError) -> Self {
        Self(error.to_string())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

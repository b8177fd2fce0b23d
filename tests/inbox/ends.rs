//! What the handlers of these tests come to, whatever their database.

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ChargeError {
    /// Worth remembering.
    Declined(String),
    Other(String),
    #[serde(skip)]
    Idem(idem::Error),
}

impl ChargeError {
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Declined(_))
    }

    /// What idem said.
    pub(crate) fn idem(self) -> idem::Error {
        match self {
            Self::Idem(error) => error,
            other => panic!("not an error of idem's: {other:?}"),
        }
    }
}

impl From<idem::Error> for ChargeError {
    fn from(error: idem::Error) -> Self {
        Self::Idem(error)
    }
}

impl From<sqlx::Error> for ChargeError {
    fn from(error: sqlx::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// What a body comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    /// With an error after its row was written.
    Badly,
    /// With one that is worth remembering.
    Finally,
}

//! The bytes of a stored result.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The bytes of a stored result: kept in place up to [`Body::INLINE`] bytes, shared above. Cloning never allocates.
#[derive(Clone)]
pub struct Body(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; Body::INLINE] },
    Shared(Arc<[u8]>),
}

impl Body {
    /// The greatest length in bytes that needs no allocation.
    pub const INLINE: usize = 94;

    /// Copies `bytes`.
    #[inline]
    pub fn copy_from(bytes: &[u8]) -> Self {
        match u8::try_from(bytes.len()) {
            Ok(len) if bytes.len() <= Self::INLINE => {
                let mut inline = [0; Self::INLINE];
                inline[..bytes.len()].copy_from_slice(bytes);
                Self(Repr::Inline { len, bytes: inline })
            }
            _ => Self(Repr::Shared(bytes.into())),
        }
    }

    /// Copies the first `len` of `bytes`, if there are as many. What lies behind comes along unseen: a copy whose length is
    /// known goes straight to where the body will be, in a few moves.
    #[cfg(feature = "memory")]
    #[inline]
    pub(crate) fn prefix(bytes: &[u8; Self::INLINE], len: u8) -> Option<Self> {
        if usize::from(len) <= Self::INLINE { Some(Self(Repr::Inline { len, bytes: *bytes })) } else { None }
    }

    /// Appends `bytes`, if that needs no allocation.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        let Repr::Inline { len, bytes: room } = &mut self.0 else { return false };
        let start = usize::from(*len);
        match (room.get_mut(start..start + bytes.len()), u8::try_from(start + bytes.len())) {
            (Some(free), Ok(end)) => {
                free.copy_from_slice(bytes);
                *len = end;
                true
            }
            _ => false,
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Shared(bytes) => bytes,
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::copy_from(&[])
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::copy_from(&bytes)
    }
}

impl Deref for Body {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}
impl Eq for Body {}

/// Shows the length only: results may hold what no log should.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.as_slice().len())
    }
}

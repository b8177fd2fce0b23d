//! The fingerprint of a payload: what must be equal under one key.
//!
//! It is a digest of the *typed value*, as its `Serialize` shows it in declaration order, and not of the bytes that came over
//! the wire: white space, the order of a JSON object's fields and the order of a `HashMap` make no difference.
//!
//! # Format, version 1
//!
//! ```text
//! fingerprint := first 16 bytes of SHA-256("idem-fp" ‖ 01 ‖ value)
//! text, name  := length in bytes as unsigned LEB128 ‖ the bytes
//! field       := 16 ‖ name ‖ value
//! value       := 00                            none
//!              | 01 ‖ value                    some
//!              | 02                            unit
//!              | 03 | 04                       false, true
//!              | 05 ‖ n ‖ n bytes              integer from 0 up, big-endian, in as few bytes as hold it (zero: none)
//!              | 06 ‖ n ‖ n bytes              integer below 0, as −1 − value in the same form
//!              | 07 ‖ 8 bytes                  float, its bits as an `f64`, big-endian
//!              | 08 ‖ text                     character
//!              | 09 ‖ text                     string
//!              | 0a ‖ text                     bytes
//!              | 0b ‖ name                     unit struct
//!              | 0c ‖ name ‖ value             newtype struct
//!              | 0d ‖ value… ‖ ff              sequence
//!              | 0e ‖ value… ‖ ff              tuple
//!              | 0f ‖ name ‖ value… ‖ ff       tuple struct
//!              | 10 ‖ (value ‖ value)… ‖ ff    map: its entries, in the order of their bytes
//!              | 11 ‖ name ‖ field… ‖ ff       struct
//!              | 12 ‖ name ‖ name              unit variant: the enum's name, the variant's name
//!              | 13 ‖ name ‖ name ‖ value      newtype variant
//!              | 14 ‖ name ‖ name ‖ value… ‖ ff    tuple variant
//!              | 15 ‖ name ‖ name ‖ field… ‖ ff    struct variant
//! ```
//!
//! No value begins with `ff`, so every value ends where its form says, and two values that differ have two encodings. Test
//! vectors pin the format; another one would need another version byte, and would turn the redeliveries of a deploy into
//! mismatches.
//!
//! # What is equal
//!
//! - Integers count by value and floats by value: a field widened from `u8` to `u64`, or from `f32` to `f64`, is still
//!   the same payload. −0 is 0, and every NaN is one NaN. An integer is never a float.
//! - Variants count by name, so that they can be reordered. A field left out by `skip_serializing_if` counts as not there, so
//!   that an optional field can be added without a change to the messages that lack it.
//! - Names are serde's: after a rename in the code, `#[serde(rename = "…")]` keeps the old one.
//! - `Some(x)` is not `x`, a newtype is not its content, and a tuple is not a sequence.
//! - The order of a `HashSet` cannot be told from that of a `Vec`: use a `BTreeSet`, or every delivery is another payload.
//! - Types that have two forms show the human-readable one (an address as text, not as four bytes): it is the one that their
//!   authors treat as public, and the same one that stored results have.

use std::fmt;

use serde::Serialize;

use crate::Error;

mod compound;
mod encoder;
mod serializer;

pub use compound::{Open, OpenMap};
pub(crate) use encoder::Tag;
pub use encoder::{Encoder, Failed};

/// A 16-byte digest of the payload fields that define the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Takes the fingerprint of a value: the same for equal values, whatever bytes they were read from.
    ///
    /// Integers count by value, so a field may be widened; names of types, fields and variants count as serde sees them, so
    /// a renamed one needs `#[serde(rename = "…")]`. Maps count without their order; sets do not, as serde writes a `HashSet` as it writes a
    /// list: compare a `BTreeSet`.
    ///
    /// # Errors
    /// [`InvalidPayload`](crate::ErrorKind::InvalidPayload) if the value's `Serialize` fails. It will at the next delivery
    /// too: park the message.
    ///
    /// ```
    /// # extern crate idem_core as idem;
    /// use std::collections::HashMap;
    /// use idem::Fingerprint;
    ///
    /// let one = HashMap::from([("amount", 1200), ("fee", 35)]);
    /// let same = HashMap::from([("fee", 35), ("amount", 1200)]);
    /// let other = HashMap::from([("fee", 1200), ("amount", 35)]);
    /// assert_eq!(Fingerprint::of(&one)?, Fingerprint::of(&same)?);
    /// assert_ne!(Fingerprint::of(&one)?, Fingerprint::of(&other)?);
    /// # Ok::<(), idem::Error>(())
    /// ```
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        let mut encoder = Encoder::new();
        value
            .serialize(&mut encoder)
            .and_then(|()| encoder.finish())
            .map(Self)
            .map_err(|failed| Error::payload_not_readable(&failed))
    }

    /// Makes one from the bytes that a store kept.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

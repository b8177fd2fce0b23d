//! What a key can be made of.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::sync::Arc;

use super::KeyWriter;

#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
mod date;
mod foreign;
mod ids;
mod placeholder;

/// A value that can be a part of a key: it has one canonical text, and two values that differ have two texts.
///
/// Implemented for strings, integers, `bool`, `char`, bytes (as lower-case hex), IP addresses, and for `Option` of a part, where
/// `None` is *missing* and keeps the body from running. Not for clocks, floats, maps or pointers: none of them says which
/// message this is.
///
/// A text is missing too if it is empty or white space, `null`, `None`, `undefined`, `NaN` or `unknown` as other languages write what
/// is not there, or the nil of some kind of id (20 zeros and more, with or without hyphens): all messages that came without an id
/// would share it. The number `0` is a value; where it is none, use `NonZero`. Where one of these texts is a value, say so by a
/// type of your own that writes it with [`KeyWriter::text`].
///
/// Behind features that are named like the crates:
///
/// | feature | type | text |
/// | --- | --- | --- |
/// | `amq-protocol-types` | `ShortString`, also of `lapin` | the text itself |
/// | `async-nats` | `Subject` | the text itself |
/// | `bson`, `bson-2` | `ObjectId`, `Uuid` | lower-case hex; nil is missing |
/// | `bytes` | `Bytes` | lower-case hex; empty bytes are missing |
/// | `bytestring`, `compact_str`, `smol_str` | `ByteString`, `CompactString`, `SmolStr` | the text itself |
/// | `chrono`, `time`, `jiff` | `NaiveDate`, `Date`, `civil::Date`: dates of business, and no moments | `2026-11-30`, the same for all three |
/// | `http` | `Method` | `POST` |
/// | `ksuid`, `svix-ksuid` | `Ksuid`, `KsuidMs` | 27 digits of base 62; nil is missing |
/// | `mti`, `type-safe-id` | `MagicTypeId`, `TypeSafeId<T>` | `user_01h455vb4pex5vsknk084sn02q`; nil is missing |
/// | `rust_decimal` | `Decimal` | normalized: `1.50` is `1.5` |
/// | `scru128`, `xid` | `Id` | lower case; nil is missing |
/// | `semver` | `Version` | `1.2.3-beta.1+build` |
/// | `ulid`, `rusty_ulid` | `Ulid` | upper case; nil is missing |
/// | `url` | `Url` | as the crate serializes it |
/// | `uuid` | `Uuid`, `NonNilUuid` | lower case with hyphens; nil and max are missing |
///
/// For a type of your own, derive it, or write it by hand:
///
/// ```
/// # extern crate idem_core as idem;
/// use idem::{KeyPart, KeyWriter};
///
/// struct OrderId(u64);
///
/// impl KeyPart for OrderId {
///     fn write(&self, out: &mut KeyWriter<'_>) {
///         out.display(self.0);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of an idempotency key",
    label = "this part has no canonical text that stays the same on redelivery",
    note = "a key is made of what the message says about its identity: text, integers, `bool`, `char`, bytes, UUIDs and other ids, dates of business",
    note = "not of clocks (when, not which), floats (rounding, `-0`, `NaN`), maps, lists and tuples (no one text), nor of pointers, hashes and handles (of this process)",
    note = "types of other crates are parts behind features of `idem` that have their names, as `uuid` or `chrono`",
    note = "for a type of your own, `#[derive(idem::KeyPart)]`, or implement it: `fn write(&self, out: &mut idem::KeyWriter<'_>)`"
)]
pub trait KeyPart {
    /// Writes the value's canonical text; writing nothing means that the value is missing.
    fn write(&self, out: &mut KeyWriter<'_>);
}

/// Writes a text that came with a message.
#[inline]
fn written(text: &str, out: &mut KeyWriter<'_>) {
    if placeholder::stands_for_nothing(text) {
        out.missing();
    } else {
        out.text(text);
    }
}

impl KeyPart for str {
    #[inline]
    fn write(&self, out: &mut KeyWriter<'_>) {
        written(self, out);
    }
}

impl KeyPart for String {
    #[inline]
    fn write(&self, out: &mut KeyWriter<'_>) {
        written(self, out);
    }
}

impl KeyPart for bool {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.text(if *self { "true" } else { "false" });
    }
}

impl KeyPart for char {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.text(self.encode_utf8(&mut [0; 4]));
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl KeyPart for $integer {
            fn write(&self, out: &mut KeyWriter<'_>) {
                out.display(self);
            }
        }

        impl KeyPart for std::num::NonZero<$integer> {
            fn write(&self, out: &mut KeyWriter<'_>) {
                out.display(self);
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// Lower-case hex, two digits a byte. The empty array is missing.
impl<const N: usize> KeyPart for [u8; N] {
    fn write(&self, out: &mut KeyWriter<'_>) {
        self.as_slice().write(out);
    }
}

/// Lower-case hex, two digits a byte. The empty slice is missing.
impl KeyPart for [u8] {
    fn write(&self, out: &mut KeyWriter<'_>) {
        for byte in self {
            out.key.extend(&super::hex(*byte));
        }
    }
}

/// As the slice of them. Not for vectors of anything else: where one text of a list ends would be a guess.
impl KeyPart for Vec<u8> {
    fn write(&self, out: &mut KeyWriter<'_>) {
        self.as_slice().write(out);
    }
}

// Not `SocketAddr`: a port is a connection's, and the next attempt has another one.
macro_rules! addresses {
    ($($address:ty),*) => {$(
        /// As usual: `192.0.2.1`, `2001:db8::1`.
        impl KeyPart for $address {
            fn write(&self, out: &mut KeyWriter<'_>) {
                out.display(self);
            }
        }
    )*};
}
addresses!(IpAddr, Ipv4Addr, Ipv6Addr);

/// `None` is missing.
impl<P: KeyPart> KeyPart for Option<P> {
    fn write(&self, out: &mut KeyWriter<'_>) {
        match self {
            Some(part) => part.write(out),
            None => out.missing(),
        }
    }
}

macro_rules! transparent {
    ($($pointer:ty),*) => {$(
        impl<P: KeyPart + ?Sized> KeyPart for $pointer {
            #[inline]
            fn write(&self, out: &mut KeyWriter<'_>) {
                P::write(self, out);
            }
        }
    )*};
}
transparent!(&P, &mut P, Box<P>, Rc<P>, Arc<P>);

impl<P: KeyPart + ToOwned + ?Sized> KeyPart for Cow<'_, P> {
    fn write(&self, out: &mut KeyWriter<'_>) {
        P::write(self, out);
    }
}

//! What a key can be made of.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::KeyWriter;

/// A value that can be a part of a key: it has one canonical text, and two values that differ have two texts.
///
/// Implemented for strings, integers, `bool`, `char`, bytes, and for `Option` of a part, where `None` is *missing* and
/// keeps the body from running. Not for clocks, floats, maps or pointers: none of them says which message this is.
///
/// Write it by hand for a newtype of your own:
///
/// ```
/// use idem_core::{KeyPart, KeyWriter};
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
    note = "a key is made of strings, integers, `bool`, `char`, bytes and ids; not of clocks, floats, maps or pointers",
    note = "for a newtype of your own, implement `idem::KeyPart`: `fn write(&self, out: &mut idem::KeyWriter<'_>)`"
)]
pub trait KeyPart {
    /// Writes the value's canonical text; writing nothing means that the value is missing.
    fn write(&self, out: &mut KeyWriter<'_>);
}

impl KeyPart for str {
    #[inline]
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.text(self);
    }
}

impl KeyPart for String {
    #[inline]
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.text(self);
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

/// Lower-case hex, two digits a byte. The empty vector is missing.
impl KeyPart for Vec<u8> {
    fn write(&self, out: &mut KeyWriter<'_>) {
        self.as_slice().write(out);
    }
}

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

//! How a result becomes bytes, and bytes a result.
//!
//! A stored body is one byte that says what follows, and what follows:
//!
//! ```text
//! 'j'  the value as JSON
//! 'l'  nothing: the value was too large; its length in bytes as u64, little-endian
//! 'u'  nothing: the value could not be serialized
//! 'p'  nothing: the body has not ended (in the handler's own transaction, whose record is written first)
//! ```

use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Body;

mod everyday;

const JSON: u8 = b'j';
const TOO_LARGE: u8 = b'l';
const UNSERIALIZABLE: u8 = b'u';
const PENDING: u8 = b'p';

/// The greatest encoded result that is kept, in bytes. A larger one is done all the same.
pub(crate) const MAX_RESULT: usize = 64 * 1024;

/// A result on its way into a record, written where the store will read it. Opaque outside of this crate.
#[derive(Debug)]
pub struct Encoding<'b> {
    body: &'b mut Body,
    /// What does not fit into the body without an allocation; empty as long as it does.
    long: Vec<u8>,
    kept: bool,
}

thread_local! {
    // Taken out while in use, so that a `Serialize` that calls another handler finds an empty one.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl<'b> Encoding<'b> {
    /// Of nothing so far, into `body`.
    pub(crate) fn begin(body: &'b mut Body) -> Self {
        Self { body, long: Vec::new(), kept: false }
    }

    /// Whether the body is the result, and not a note in its place.
    pub(crate) const fn is_kept(&self) -> bool {
        self.kept
    }

    fn len(&self) -> usize {
        if self.long.is_empty() { self.body.len() } else { self.long.len() }
    }

    /// The bytes so far.
    fn bytes(&self) -> &[u8] {
        if self.long.is_empty() { self.body } else { &self.long }
    }

    #[cold]
    fn write_long(&mut self, bytes: &[u8]) {
        if self.long.is_empty() {
            self.long = SCRATCH.take();
            self.long.clear();
            self.long.extend_from_slice(self.body);
        }
        self.long.extend_from_slice(bytes);
    }

    /// Makes the body of what was written, or puts a note in the place of what is too large or no whole value.
    fn end(&mut self, whole: bool) {
        let len = self.len();
        self.kept = whole && len <= MAX_RESULT;
        if whole && !self.kept {
            let mut note = [TOO_LARGE; 9];
            note[1..].copy_from_slice(&(len as u64 - 1).to_le_bytes());
            *self.body = Body::copy_from(&note);
        } else if !whole {
            *self.body = Body::copy_from(&[UNSERIALIZABLE]);
        } else if !self.long.is_empty() {
            *self.body = Body::copy_from(&self.long);
        }
        // One huge result must not stay in memory for ever.
        if (1..=MAX_RESULT).contains(&self.long.capacity()) {
            SCRATCH.set(std::mem::take(&mut self.long));
        }
    }
}

impl Write for Encoding<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.long.is_empty() || !self.body.push(bytes) {
            self.write_long(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why there is no value to hand back, though the work is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Its time has passed.
    Expired,
    /// It had this many bytes.
    TooLarge(u64),
    /// It could not be serialized.
    Unserializable,
    /// Its body had not ended when its transaction was committed.
    Unfinished,
    /// The bytes are not this handler's result. Says why without showing them.
    Unreadable(String),
}

/// Goes on where a sentence says "its result".
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("is no longer kept"),
            Self::TooLarge(len) => write!(f, "of {len} bytes was too large to keep"),
            Self::Unserializable => f.write_str("could not be serialized"),
            Self::Unfinished => f.write_str("was never written"),
            Self::Unreadable(why) => write!(f, "is unreadable: {why}"),
        }
    }
}

/// Encodes `value`. Never fails: the work is done, so a value that cannot be kept leaves a note in its place.
pub(crate) fn encode<T: Serialize + DeserializeOwned>(value: &T, into: &mut Encoding<'_>) {
    // A panic here comes after the work: it must not undo it. The panic hook has reported it.
    let whole = catch_unwind(AssertUnwindSafe(|| {
        // What is too large is not kept, so it need not be read back.
        into.write_all(&[JSON]).is_ok()
            && serde_json::to_writer(&mut *into, value).is_ok()
            && (into.len() > MAX_RESULT || reads_back::<T>(&into.bytes()[1..]))
    }));
    into.end(matches!(whole, Ok(true)));
}

/// What stands in the place of a result whose body has not ended.
pub(crate) fn pending() -> Body {
    Body::copy_from(&[PENDING])
}

/// The bytes of the one value that a type has, such as `()`; `None` if it may have several.
pub(crate) fn only_value<T: Serialize + DeserializeOwned>() -> Option<Body> {
    let value: T = if size_of::<T>() == 0 { serde_json::from_slice(b"null").ok()? } else { return None };
    let mut body = Body::default();
    encode(&value, &mut Encoding::begin(&mut body));
    Some(body)
}

/// Debug builds read back what they wrote: JSON turns a NaN into `null`, and tests should meet that before production does.
fn reads_back<T: DeserializeOwned>(json: &[u8]) -> bool {
    !cfg!(debug_assertions) || serde_json::from_slice::<T>(json).is_ok()
}

/// Decodes a stored result. Without bytes, a value of a type that has only one (such as `()`) is there all the same.
#[inline]
pub(crate) fn decode<T: DeserializeOwned>(body: Option<&Body>) -> Result<T, Missing> {
    let Some(body) = body else {
        // An `Option` reads `null` too, but what has expired need not have been `None`.
        let only_value = if size_of::<T>() == 0 { serde_json::from_slice(b"null").ok() } else { None };
        return only_value.ok_or(Missing::Expired);
    };
    let json = match body.split_first() {
        Some((&JSON, json)) => json,
        other => return Err(note(other)),
    };
    // To look at all bytes at once costs less than serde_json's own look at each string.
    let text = std::str::from_utf8(json).map_err(not_utf8)?;
    everyday::read(text).or_else(|_| read_any(text))
}

/// Reads any JSON.
#[cold]
fn read_any<T: DeserializeOwned>(text: &str) -> Result<T, Missing> {
    serde_json::from_str(text).map_err(|error| unreadable(&error, text.len(), type_name::<T>()))
}

/// What is said by a body that is no JSON: its first byte, and what follows.
#[cold]
fn note(body: Option<(&u8, &[u8])>) -> Missing {
    match body {
        Some((&TOO_LARGE, len)) => Missing::TooLarge(len.try_into().map_or(0, u64::from_le_bytes)),
        Some((&UNSERIALIZABLE, _)) => Missing::Unserializable,
        Some((&PENDING, _)) => Missing::Unfinished,
        Some((other, _)) => Missing::Unreadable(format!("format {other:#04x} is unknown here")),
        None => Missing::Unreadable("no format byte".into()),
    }
}

#[cold]
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn not_utf8(error: std::str::Utf8Error) -> Missing {
    Missing::Unreadable(format!("not UTF-8 after {} bytes", error.valid_up_to()))
}

/// Says where the bytes stop being a `T`. The error's own text would quote them, and a result may hold what no log should.
#[cold]
fn unreadable(error: &serde_json::Error, len: usize, ty: &str) -> Missing {
    let what = match error.classify() {
        serde_json::error::Category::Data => "it was stored as another type or shape",
        serde_json::error::Category::Eof => "it ends early",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "it is not JSON",
    };
    let at = error.column();
    Missing::Unreadable(format!("{what} (byte {at} of {len} does not fit `{ty}`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body, and whether it is the value.
    fn encoded<T: Serialize + DeserializeOwned>(value: &T) -> (Body, bool) {
        let mut body = Body::default();
        let mut encoding = Encoding::begin(&mut body);
        encode(value, &mut encoding);
        let kept = encoding.is_kept();
        (body, kept)
    }

    fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, Missing> {
        decode(Some(&encoded(value).0))
    }

    #[test]
    fn values_come_back_as_they_were() {
        assert_eq!(round_trip(&(1_u64, "é".to_owned())), Ok((1, "é".to_owned())));
        assert_eq!(round_trip(&u64::MAX), Ok(u64::MAX));
        assert_eq!(round_trip(&0.1_f64), Ok(0.1));
        assert_eq!(round_trip(&()), Ok(()));
    }

    #[test]
    fn a_result_at_the_limit_is_kept_and_one_above_is_not() {
        // Two quotes and the format byte.
        let fits = "x".repeat(MAX_RESULT - 3);
        assert_eq!(round_trip(&fits), Ok(fits.clone()));
        let too_large = "x".repeat(MAX_RESULT - 2);
        assert!(!encoded(&too_large).1);
        assert_eq!(round_trip(&too_large), Err(Missing::TooLarge(MAX_RESULT as u64)));
    }

    #[test]
    fn values_around_the_room_of_a_body_come_back_as_they_were() {
        for len in Body::INLINE - 8..Body::INLINE + 8 {
            let value = ("x".repeat(len), 7);
            assert_eq!(round_trip(&value), Ok(value.clone()));
        }
        // A long one has left its memory behind.
        assert_eq!(encoded(&7).0.as_slice(), b"j7");
    }

    #[test]
    fn what_cannot_be_serialized_leaves_a_note() {
        let map = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(!encoded(&map).1);
        assert_eq!(round_trip(&map), Err(Missing::Unserializable));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_nan_is_met_in_debug_builds() {
        assert!(!encoded(&f64::NAN).1);
    }

    #[test]
    fn a_missing_body_is_a_unit_or_nothing() {
        assert_eq!(decode::<()>(None), Ok(()));
        assert_eq!(decode::<u64>(None), Err(Missing::Expired));
        assert_eq!(decode::<Option<u64>>(None), Err(Missing::Expired));
        assert_eq!(decode::<serde_json::Value>(None), Err(Missing::Expired));
    }

    // F71
    #[test]
    fn the_reason_for_unreadable_bytes_does_not_show_them() {
        let body = encoded(&"sk_live_1".to_owned()).0;
        let Err(missing) = decode::<u64>(Some(&body)) else { panic!("a text is a number") };
        assert!(!missing.to_string().contains("sk_live"), "{missing}");
        assert!(missing.to_string().contains("does not fit `u64`"), "{missing}");
    }

    #[test]
    fn foreign_bytes_are_unreadable() {
        for bytes in [&b""[..], b"j", b"j{", b"x1", b"j\"text\"", b"j\"\xff\""] {
            assert!(
                matches!(decode::<u64>(Some(&Body::copy_from(bytes))), Err(Missing::Unreadable(_))),
                "{bytes:?}"
            );
        }
    }
}

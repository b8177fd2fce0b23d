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
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Body;

const JSON: u8 = b'j';
const TOO_LARGE: u8 = b'l';
const UNSERIALIZABLE: u8 = b'u';
const PENDING: u8 = b'p';

/// The greatest encoded result that is kept, in bytes. A larger one is done all the same.
pub(crate) const MAX_RESULT: usize = 64 * 1024;

/// An encoded result, and whether it can be decoded again.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) body: Body,
    pub(crate) kept: bool,
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
pub(crate) fn encode<T: Serialize + DeserializeOwned>(value: &T) -> Encoded {
    thread_local! {
        // Taken out while in use, so that a `Serialize` that calls another handler finds an empty one.
        static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    let mut bytes = SCRATCH.take();
    bytes.clear();
    bytes.push(JSON);
    // A panic here comes after the work: it must not undo it. The panic hook has reported it.
    let written = catch_unwind(AssertUnwindSafe(|| {
        // What is too large is not kept, so it need not be read back.
        serde_json::to_writer(&mut bytes, value).is_ok()
            && (bytes.len() > MAX_RESULT || reads_back::<T>(&bytes[1..]))
    }));
    let encoded = if !matches!(written, Ok(true)) {
        Encoded { body: Body::copy_from(&[UNSERIALIZABLE]), kept: false }
    } else if bytes.len() > MAX_RESULT {
        let mut note = [TOO_LARGE; 9];
        note[1..].copy_from_slice(&(bytes.len() as u64 - 1).to_le_bytes());
        Encoded { body: Body::copy_from(&note), kept: false }
    } else {
        Encoded { body: Body::copy_from(&bytes), kept: true }
    };
    // One huge result must not stay in memory for ever.
    if bytes.capacity() <= MAX_RESULT {
        SCRATCH.set(bytes);
    }
    encoded
}

/// What stands in the place of a result whose body has not ended.
pub(crate) fn pending() -> Body {
    Body::copy_from(&[PENDING])
}

/// The bytes of the one value that a type has, such as `()`; `None` if it may have several.
pub(crate) fn only_value<T: Serialize + DeserializeOwned>() -> Option<Encoded> {
    (size_of::<T>() == 0).then(|| serde_json::from_slice::<T>(b"null").ok()).flatten().as_ref().map(encode)
}

/// Debug builds read back what they wrote: JSON turns a NaN into `null`, and tests should meet that before production does.
fn reads_back<T: DeserializeOwned>(json: &[u8]) -> bool {
    !cfg!(debug_assertions) || serde_json::from_slice::<T>(json).is_ok()
}

/// Decodes a stored result. Without bytes, a value of a type that has only one (such as `()`) is there all the same.
pub(crate) fn decode<T: DeserializeOwned>(body: Option<&Body>) -> Result<T, Missing> {
    let Some(body) = body else {
        // An `Option` reads `null` too, but what has expired need not have been `None`.
        let only_value = if size_of::<T>() == 0 { serde_json::from_slice(b"null").ok() } else { None };
        return only_value.ok_or(Missing::Expired);
    };
    match body.split_first() {
        // To look at all bytes at once costs less than serde_json's own look at each string.
        Some((&JSON, json)) => match std::str::from_utf8(json) {
            Ok(text) => serde_json::from_str(text).map_err(|error| unreadable::<T>(&error, json.len())),
            Err(error) => Err(Missing::Unreadable(format!("not UTF-8 after {} bytes", error.valid_up_to()))),
        },
        Some((&TOO_LARGE, len)) => Err(Missing::TooLarge(len.try_into().map_or(0, u64::from_le_bytes))),
        Some((&UNSERIALIZABLE, _)) => Err(Missing::Unserializable),
        Some((&PENDING, _)) => Err(Missing::Unfinished),
        Some((other, _)) => Err(Missing::Unreadable(format!("format {other:#04x} is unknown here"))),
        None => Err(Missing::Unreadable("no format byte".into())),
    }
}

/// Says where the bytes stop being a `T`. The error's own text would quote them, and a result may hold what no log should.
fn unreadable<T>(error: &serde_json::Error, len: usize) -> Missing {
    let what = match error.classify() {
        serde_json::error::Category::Data => "it was stored as another type or shape",
        serde_json::error::Category::Eof => "it ends early",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "it is not JSON",
    };
    let (at, ty) = (error.column(), type_name::<T>());
    Missing::Unreadable(format!("{what} (byte {at} of {len} does not fit `{ty}`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, Missing> {
        decode(Some(&encode(value).body))
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
        assert!(!encode(&too_large).kept);
        assert_eq!(round_trip(&too_large), Err(Missing::TooLarge(MAX_RESULT as u64)));
    }

    #[test]
    fn what_cannot_be_serialized_leaves_a_note() {
        let map = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(!encode(&map).kept);
        assert_eq!(round_trip(&map), Err(Missing::Unserializable));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_nan_is_met_in_debug_builds() {
        assert!(!encode(&f64::NAN).kept);
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
        let body = encode(&"sk_live_1".to_owned()).body;
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

//! Texts that stand where an id was never set.

/// Whether a text says that there is no value: it is empty or white space, one of the words that other languages write for a value
/// that is not there, or the nil of some kind of id.
///
/// The words count as they are written by those languages only: a customer may be called `NULL`.
pub(super) fn stands_for_nothing(text: &str) -> bool {
    // Nearly all texts are none of these, and the first byte says so.
    match text.as_bytes().first() {
        None => true,
        Some(b'0') => is_nil(text),
        Some(b'n') => text == "null",
        Some(b'N') => matches!(text, "None" | "NaN"),
        Some(b'u') => matches!(text, "undefined" | "unknown"),
        Some(first) if *first <= b' ' || !first.is_ascii() => text.trim().is_empty(),
        Some(_) => false,
    }
}

/// Zeros and hyphens alone, and more of them than a number has: a UUID in either spelling, a ULID, an `ObjectId`, a KSUID, an xid.
fn is_nil(text: &str) -> bool {
    text.len() >= 20 && text.bytes().all(|byte| matches!(byte, b'0' | b'-'))
}

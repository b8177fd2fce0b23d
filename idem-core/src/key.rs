//! The key: how the parts of a message become one text.
//!
//! The text is always printable ASCII, at most [`Key::MAX_LEN`] bytes and *injective*: two different tuples of parts of one
//! template never render the same text.
//!
//! - `%`, `#`, space, controls, DEL and every byte outside ASCII are percent-encoded, everywhere.
//! - In every part but the last, the first byte of the literal that follows is percent-encoded too, so that a part ends where
//!   the template says. The macro refuses literals between parts that are empty or begin with a letter, a digit or something
//!   that is encoded itself: all of these can also stand inside of a part.
//! - A part that is made of several parts joins them with `/`; in all of them but the last, `~` and `/` are written `~0` and
//!   `~1`. That is a text like any other, and is then encoded as said.
//! - A part that writes nothing is missing, and so is one that says so: the body does not run.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::id::Padded;
use crate::word::{HIGH, below, each, equal};

mod classes;
mod event_time;
mod part;
pub(crate) mod read;

pub use classes::{
    AnyShapePart, ClockPart, FloatPart, ListPart, LockedPart, ProcessPart, RandomPart, ResultPart, UnitPart,
    part_of,
};
pub use event_time::EventTime;
pub use part::KeyPart;

/// An idempotency key: the same for every delivery of one message, another one for every other message.
///
/// There is no way to make one from a bare string or UUID, so that an API client that asks for a `&Key` cannot be handed a
/// fresh value. A key comes from `#[idempotent]` (as a `#[key]` argument), from [`Key::step`], or, with a stated reason,
/// from [`Key::trusted`].
///
/// `Display` and [`as_str`](Key::as_str) give the text, which is fit for a header; `Debug` gives eight hex digits of its
/// digest, so that no log shows what may be an e-mail address.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(Box<str>);

impl Key {
    /// The greatest length of a key's text, in bytes. Many APIs (Stripe, AMQP's short strings) stop there.
    pub const MAX_LEN: usize = 255;

    /// Takes a text as a key on the caller's word that it is the same for every delivery of one message.
    ///
    /// `reason` is for the reader of the code: say what makes the text stable ("the scheduler's nominal time").
    ///
    /// # Errors
    /// If the text is empty, longer than [`Key::MAX_LEN`], or not printable ASCII without spaces.
    ///
    /// ```
    /// # extern crate idem_core as idem;
    /// use idem::Key;
    ///
    /// let key = Key::trusted("report:2026-11-30", "the nominal date of the run")?;
    /// assert_eq!(key.as_str(), "report:2026-11-30");
    /// assert!(Key::trusted("", "nothing to tell messages apart").is_err());
    /// # Ok::<(), idem::Error>(())
    /// ```
    pub fn trusted(text: impl AsRef<str>, reason: &'static str) -> Result<Self, crate::Error> {
        let _ = reason;
        let text = text.as_ref();
        if text.is_empty() {
            return Err(crate::Error::missing_key_part("the whole key"));
        }
        if text.len() > Self::MAX_LEN {
            return Err(crate::Error::key_too_long("the whole key", text.len()));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(crate::Error::key_not_printable());
        }
        Ok(Self(text.into()))
    }

    /// The key for one of several writes of a handler: `msg:8f14` becomes `msg:8f14#capture`.
    ///
    /// Give each write of a handler a name of its own, or the API that receives the keys takes the second write for a
    /// repetition of the first. Names are encoded like parts, so `step("a").step("b")` and `step("a#b")` differ. A key that
    /// would grow over [`Key::MAX_LEN`] becomes its prefix and a SHA-256: `msg:#9f86d0…`.
    #[must_use]
    pub fn step(&self, name: &str) -> Self {
        let mut text = String::with_capacity(self.0.len() + 1 + name.len());
        text.push_str(&self.0);
        text.push('#');
        for byte in name.bytes() {
            if must_encode(byte) {
                text.extend(percent(byte).map(char::from));
            } else {
                text.push(char::from(byte));
            }
        }
        if text.len() > Self::MAX_LEN {
            let digest = Sha256::digest(text.as_bytes());
            text.truncate(text.find(':').map_or(0, |colon| colon + 1));
            // A prefix of over 190 bytes is none that a template can have; trusted text may.
            text.truncate(Self::MAX_LEN - 1 - 64);
            text.push('#');
            for byte in digest {
                text.extend(hex(byte).map(char::from));
            }
        }
        Self(text.into())
    }

    /// The text: printable ASCII, at most [`Key::MAX_LEN`] bytes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = Sha256::digest(self.0.as_bytes());
        write!(f, "Key({:02x}{:02x}{:02x}{:02x})", digest[0], digest[1], digest[2], digest[3])
    }
}

/// Writes one part of a key; see [`KeyPart`]. `Debug` does not show what was written.
#[derive(Debug)]
pub struct KeyWriter<'a> {
    key: &'a mut KeyText,
    end: Option<u8>,
    missing: bool,
    /// In how many parts of parts this is, each of which is followed by another one.
    joined: usize,
}

impl KeyWriter<'_> {
    /// Appends `text` to the part, encoded where the key's form asks for it.
    pub fn text(&mut self, text: &str) {
        // Of an everyday id, all is copied as it is.
        if self.joined == 0 && stands_as_it_is(text.as_bytes(), self.end()) {
            self.key.extend(text.as_bytes());
        } else {
            self.encoded(text);
        }
    }

    /// The byte that is encoded besides those that always are, which stand for "no other".
    fn end(&self) -> u8 {
        self.end.unwrap_or(b'%')
    }

    #[cold]
    #[inline(never)]
    fn encoded(&mut self, text: &str) {
        if self.joined > 0 {
            return self.escaped(text);
        }
        let mut rest = text.as_bytes();
        let end = self.end();
        while let Some(at) = rest.iter().position(|byte| must_encode(*byte) || *byte == end) {
            self.key.extend(&rest[..at]);
            self.key.extend(&percent(rest[at]));
            rest = &rest[at + 1..];
        }
        self.key.extend(rest);
    }

    /// Appends what `value` displays. It must show all that makes the value another one, in one form only.
    pub fn display(&mut self, value: impl fmt::Display) {
        struct Text<'w, 'a>(&'w mut KeyWriter<'a>);
        impl fmt::Write for Text<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.text(text);
                Ok(())
            }
        }
        if fmt::write(&mut Text(self), format_args!("{value}")).is_err() {
            // A `Display` that fails has shown only part of the value.
            self.missing();
        }
    }

    /// Appends several parts as one, joined with `/`. In all of them but the last, `~` and `/` are written `~0` and `~1` (as in
    /// JSON Pointer), so that different parts never make the same text. If one of them is missing, the whole is.
    ///
    /// ```
    /// # extern crate idem_core as idem;
    /// use idem::{KeyPart, KeyWriter};
    ///
    /// struct Invoice {
    ///     series: String,
    ///     number: u32,
    /// }
    ///
    /// impl KeyPart for Invoice {
    ///     fn write(&self, out: &mut KeyWriter<'_>) {
    ///         out.parts(&[&self.series, &self.number]); // `DE/42`, and `A~1B/42` for the series `A/B`
    ///     }
    /// }
    /// ```
    pub fn parts(&mut self, parts: &[&dyn KeyPart]) {
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.text("/");
            }
            let followed = usize::from(at + 1 < parts.len());
            let start = self.key.len;
            self.joined += followed;
            part.write(self);
            self.joined -= followed;
            if self.key.len == start {
                self.missing();
            }
        }
    }

    /// Text inside of parts of parts: escaped once for each of them.
    fn escaped(&mut self, text: &str) {
        let depth = std::mem::take(&mut self.joined);
        for piece in text.split_inclusive(['~', '/']) {
            let plain = piece.trim_end_matches(['~', '/']);
            self.text(plain);
            let Some(escaped) = piece[plain.len()..].chars().next() else { continue };
            self.text("~");
            // `~` becomes `~0` each time; `/` becomes `~1` once, and is then a `~` with something behind it.
            for _ in 1..depth {
                self.text("0");
            }
            self.text(if escaped == '~' { "0" } else { "1" });
        }
        self.joined = depth;
    }

    /// Says that the value is absent (`None`, the nil UUID): the body will not run.
    pub fn missing(&mut self) {
        self.missing = true;
    }
}

/// The text of a key while it is rendered. On the stack, since most handlers need its digest only.
///
/// `Debug` shows its length, and not the text.
pub struct KeyText {
    /// Zero from `len` on, as the padding before a digest is; of most texts it has room for that padding.
    bytes: [u8; Key::MAX_LEN],
    /// How long the text would be, even past what fits.
    len: usize,
    missing: Option<&'static str>,
    too_long: Option<&'static str>,
}

impl KeyText {
    /// An empty text.
    #[allow(clippy::new_without_default, reason = "rendering always begins with a literal")]
    pub const fn new() -> Self {
        Self { bytes: [0; Key::MAX_LEN], len: 0, missing: None, too_long: None }
    }

    /// Appends a literal of the template, which the macro has encoded.
    #[inline]
    pub fn literal(&mut self, text: &str) {
        self.extend(text.as_bytes());
        self.note_length("the template's own text");
    }

    /// Appends the part `name`, which ends where the literal that begins with `end` follows.
    #[inline]
    pub fn part<P: KeyPart + ?Sized>(&mut self, name: &'static str, value: &P, end: Option<u8>) {
        let start = self.len;
        let mut writer = KeyWriter { key: self, end, missing: false, joined: 0 };
        value.write(&mut writer);
        if (writer.missing || self.len == start) && self.missing.is_none() {
            self.missing = Some(name);
        }
        self.note_length(name);
    }

    /// Whether a part was missing. The macro then tries the next template of a list.
    pub const fn is_missing(&self) -> bool {
        self.missing.is_some()
    }

    /// Begins anew, with the next template of a list.
    pub const fn restart(&mut self) {
        *self = Self::new();
    }

    /// The finished text.
    ///
    /// # Errors
    /// If a part is missing, or the text is longer than [`Key::MAX_LEN`]; both name the part.
    pub fn finish(&self) -> Result<&str, crate::Error> {
        std::str::from_utf8(self.finished()?).map_err(|_| crate::Error::key_not_printable())
    }

    /// The finished text's bytes, which are ASCII by the way they were made.
    #[inline]
    fn finished(&self) -> Result<&[u8], crate::Error> {
        self.check()?;
        Ok(&self.bytes[..self.len])
    }

    /// The finished text, ready for a digest: padded where it is, which spares a copy, if there is room for that. It cannot be
    /// added to any more.
    #[inline]
    pub(crate) fn padded(&mut self) -> Result<Padded<'_>, crate::Error> {
        self.check()?;
        Ok(Padded::of(&mut self.bytes, self.len))
    }

    #[inline]
    fn check(&self) -> Result<(), crate::Error> {
        match (self.missing, self.too_long) {
            (None, None) => Ok(()),
            (Some(part), _) => Err(crate::Error::missing_key_part(part)),
            (None, Some(part)) => Err(crate::Error::key_too_long(part, self.len)),
        }
    }

    /// The finished text as a key.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn to_key(&self) -> Result<Key, crate::Error> {
        self.finish().map(|text| Key(text.into()))
    }

    fn note_length(&mut self, part: &'static str) {
        if self.len > Key::MAX_LEN && self.too_long.is_none() {
            self.too_long = Some(part);
        }
    }

    #[inline]
    fn extend(&mut self, bytes: &[u8]) {
        let start = self.len;
        self.len += bytes.len();
        if self.len <= Key::MAX_LEN {
            self.bytes[start..self.len].copy_from_slice(bytes);
        }
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyText")
            .field("len", &self.len)
            .field("missing", &self.missing)
            .field("too_long", &self.too_long)
            .finish_non_exhaustive()
    }
}

/// Whether all of `bytes` may stand in a key as they are. Looked at eight at a time, as one number; the last eight may overlap
/// with the ones before.
#[inline]
fn stands_as_it_is(bytes: &[u8], end: u8) -> bool {
    let Some(last) = bytes.last_chunk() else {
        return !bytes.iter().any(|byte| must_encode(*byte) || *byte == end);
    };
    let found = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        // A byte that is none of ASCII's, and one that is below `!`, DEL, or one of the three others.
        word | below(word, b'!')
            | word.wrapping_add(each(1))
            | equal(word, b'%')
            | equal(word, b'#')
            | equal(word, end)
    };
    bytes.as_chunks().0.iter().fold(found(last), |all, word| all | found(word)) & HIGH == 0
}

/// Whether a byte of a part may not stand in a key as it is.
#[inline]
const fn must_encode(byte: u8) -> bool {
    !byte.is_ascii_graphic() || byte == b'%' || byte == b'#'
}

const fn percent(byte: u8) -> [u8; 3] {
    let [high, low] = hex_upper(byte);
    [b'%', high, low]
}

const fn hex_upper(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [DIGITS[(byte >> 4) as usize], DIGITS[(byte & 15) as usize]]
}

const fn hex(byte: u8) -> [u8; 2] {
    let [high, low] = hex_upper(byte);
    [high.to_ascii_lowercase(), low.to_ascii_lowercase()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_encoded_is_found_wherever_it_stands_and_no_other() {
        for (byte, end) in (0..=u8::MAX).flat_map(|byte| [b'%', b':', b'~'].map(|end| (byte, end))) {
            for len in 1..=20 {
                for at in 0..len {
                    let mut text = vec![b'a'; len];
                    text[at] = byte;
                    let stands = !must_encode(byte) && byte != end;
                    assert_eq!(
                        stands_as_it_is(&text, end),
                        stands,
                        "{byte:#04x} at {at} of {len} before {end:#04x}"
                    );
                }
            }
        }
    }
}

//! Writes the parts of the format into the digest.

use std::fmt;

use serde::ser;
use sha2::{Digest, Sha256};

/// The first byte of each kind of value; see the format.
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    None = 0x00,
    Some = 0x01,
    Unit = 0x02,
    False = 0x03,
    True = 0x04,
    Natural = 0x05,
    Negative = 0x06,
    Float = 0x07,
    Char = 0x08,
    Str = 0x09,
    Bytes = 0x0a,
    UnitStruct = 0x0b,
    NewtypeStruct = 0x0c,
    Seq = 0x0d,
    Tuple = 0x0e,
    TupleStruct = 0x0f,
    Map = 0x10,
    Struct = 0x11,
    UnitVariant = 0x12,
    NewtypeVariant = 0x13,
    TupleVariant = 0x14,
    StructVariant = 0x15,
    Field = 0x16,
    End = 0xff,
}

/// Feeds a digest with values.
pub struct Encoder {
    digest: Sha256,
    /// The entries of maps that are still open: they can be put in order only once all are there.
    staged: Vec<u8>,
    /// How many maps are open, one inside the other.
    open_maps: usize,
}

/// Shows nothing: what it holds is payload.
impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encoder")
    }
}

impl Encoder {
    pub(crate) fn new() -> Self {
        Self { digest: Sha256::new_with_prefix(b"idem-fp\x01"), staged: Vec::new(), open_maps: 0 }
    }

    pub(crate) fn finish(&self) -> Result<[u8; 16], Failed> {
        if self.open_maps > 0 {
            // Its bytes never reached the digest, so two payloads would look alike.
            return Err(ser::Error::custom("an error inside a map was swallowed"));
        }
        let mut first = [0; 16];
        first.copy_from_slice(&self.digest.clone().finalize()[..16]);
        Ok(first)
    }

    pub(crate) fn tag(&mut self, tag: Tag) {
        self.put(&[tag as u8]);
    }

    pub(crate) fn text(&mut self, bytes: &[u8]) {
        let mut prefix = [0; 10];
        let mut at = 0;
        let mut rest = bytes.len();
        loop {
            let low = u8::try_from(rest & 0x7f).unwrap_or_default();
            rest >>= 7;
            prefix[at] = if rest == 0 { low } else { low | 0x80 };
            at += 1;
            if rest == 0 {
                break;
            }
        }
        self.put(&prefix[..at]);
        self.put(bytes);
    }

    pub(super) fn natural(&mut self, value: u128) {
        self.integer(Tag::Natural, value);
    }

    pub(super) fn signed(&mut self, value: i128) {
        match u128::try_from(value) {
            Ok(natural) => self.integer(Tag::Natural, natural),
            // The complement of a negative number is −1 − value.
            Err(_) => self.integer(Tag::Negative, (!value).unsigned_abs()),
        }
    }

    fn integer(&mut self, tag: Tag, magnitude: u128) {
        let unused = magnitude.leading_zeros() / 8;
        let mut encoded = [0; 18];
        encoded[0] = tag as u8;
        encoded[1] = 16 - u8::try_from(unused).unwrap_or(16);
        // Shifting the number up to the front puts its first used byte next to the length.
        let front = magnitude.checked_shl(unused * 8).unwrap_or(0);
        encoded[2..].copy_from_slice(&front.to_be_bytes());
        self.put(&encoded[..2 + usize::from(encoded[1])]);
    }

    pub(super) fn float(&mut self, value: f64) {
        let one_form = if value.is_nan() {
            0x7ff8_0000_0000_0000
        } else if value == 0.0 {
            0
        } else {
            value.to_bits()
        };
        self.tag(Tag::Float);
        self.put(&u64::to_be_bytes(one_form));
    }

    /// Begins a map. From here to its [`close_map`](Self::close_map), what is written is held back.
    pub(super) fn open_map(&mut self) {
        self.tag(Tag::Map);
        self.open_maps += 1;
    }

    /// Where the next entry will begin.
    pub(super) fn staged(&self) -> usize {
        self.staged.len()
    }

    /// Ends a map whose entries began at these places: writes them in the order of their bytes.
    pub(super) fn close_map(&mut self, starts: &[usize]) {
        self.open_maps -= 1;
        if let Some(&first) = starts.first() {
            let entries = self.staged.split_off(first);
            let ends = starts[1..].iter().copied().chain([first + entries.len()]);
            let mut sorted: Vec<&[u8]> =
                starts.iter().zip(ends).map(|(start, end)| &entries[start - first..end - first]).collect();
            // Keys end where their form says, so the order of whole entries is the order of their keys.
            sorted.sort_unstable();
            for entry in sorted {
                self.put(entry);
            }
        }
        self.tag(Tag::End);
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.open_maps == 0 {
            self.digest.update(bytes);
        } else {
            self.staged.extend_from_slice(bytes);
        }
    }
}

/// Why a value could not be shown: the words of its `Serialize`.
#[derive(Debug)]
pub struct Failed(String);

impl ser::Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

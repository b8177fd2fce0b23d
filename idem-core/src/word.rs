//! Eight bytes of a text, looked at as one number.
//!
//! What is asked of each byte is answered in its high bit. A byte that is found may have those behind it found too, by what it borrows
//! or carries: the first is one that was asked for, and without a first there is none.

/// The high bit of each byte.
pub(crate) const HIGH: u64 = each(0x80);

/// Eight times the same byte.
pub(crate) const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The bytes of ASCII that are less than `limit`, which is at most 0x80.
#[inline]
pub(crate) const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(each(limit)) & !word
}

/// The bytes that are `byte`.
#[inline]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ each(byte), 1)
}

//! The storage identity of a record.
//!
//! # Format, version 1
//!
//! ```text
//! field(bytes)  := length of bytes as u32, big-endian ‖ bytes
//! header        := "idem" ‖ 0x01 ‖ field(application) ‖ field(tenant) ‖ field(scope)
//! namespace     := SHA-256(header) ‖ "idem record id, version 1" ‖ seven zero bytes              64 bytes
//! record id     := SHA-256(namespace ‖ key text)                                                  32 bytes
//! ```
//!
//! The key's text is the last field, so its length needs no prefix, and it is injective over the key's parts (see
//! [`Key`](crate::Key)). The namespace fills exactly one block of SHA-256: a handler hashes it once, and an everyday key
//! then costs one more block. Test vectors pin the format; another one would need another version byte, and would make every
//! record in every store unfindable.

use std::fmt;

use sha2::block_api::compress256;
use sha2::{Digest, Sha256};

/// The identity of a record in a store: a 32-byte digest of application, tenant, scope and key.
///
/// Stores keep this and never the readable key. `Debug` shows its first eight hex digits, which is what logs show too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId([u8; 32]);

impl RecordId {
    /// Makes an id from the bytes that a store kept.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight bytes as a number, already as good as a hash.
    #[cfg(feature = "memory")]
    #[inline]
    pub(crate) const fn prefix(&self) -> u64 {
        let (prefix, _) = self.0.split_first_chunk().expect("32 bytes are more than 8");
        u64::from_le_bytes(*prefix)
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A space of keys: all keys of one handler, for one tenant of one application.
///
/// Held as the state of a SHA-256 that has taken in the namespace's block. What is left for each key is one block, padded
/// here: the hasher's own buffering would cost half as much again.
#[derive(Clone)]
pub struct Namespace([u32; 8]);

/// The state that SHA-256 begins with (FIPS 180-4, 5.3.3).
const BEGIN: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The bytes that SHA-256 takes in at a time.
const BLOCK: usize = 64;

impl Namespace {
    /// Makes the namespace of `scope` for `tenant` within `application`; the empty string stands for "none".
    pub fn new(application: &str, tenant: &str, scope: &str) -> Self {
        let mut header = Sha256::new();
        header.update(b"idem\x01");
        for field in [application, tenant, scope] {
            // A name of 4 GiB is no name: its length saturates, and its bytes still count.
            header.update(u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
            header.update(field.as_bytes());
        }
        let mut block = [0; BLOCK];
        block[..32].copy_from_slice(&header.finalize());
        block[32..57].copy_from_slice(b"idem record id, version 1");
        let mut state = BEGIN;
        compress256(&mut state, &[block]);
        Self(state)
    }

    /// The identity of the record for a key with this text.
    pub fn record(&self, key_text: &str) -> RecordId {
        self.record_of(key_text.as_bytes())
    }

    fn record_of(&self, key_text: &[u8]) -> RecordId {
        let mut state = self.0;
        let (whole, rest) = key_text.as_chunks::<BLOCK>();
        compress256(&mut state, whole);
        let mut last = [0; 2 * BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let blocks = padded_blocks(rest.len());
        pad(&mut last[..blocks * BLOCK], rest.len(), key_text.len());
        compress256(&mut state, &last.as_chunks().0[..blocks]);
        digest(state)
    }

    /// The identity of the record for a key whose text may be padded already.
    #[inline]
    pub(crate) fn record_of_padded(&self, key_text: &Padded<'_>) -> RecordId {
        match key_text {
            Padded::Blocks(blocks) => {
                let mut state = self.0;
                compress256(&mut state, blocks);
                digest(state)
            }
            Padded::Bytes(bytes) => self.record_of(bytes),
        }
    }
}

#[inline]
fn digest(state: [u32; 8]) -> RecordId {
    let mut id = [0; 32];
    for (bytes, word) in id.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    RecordId(id)
}

/// A key's text on its way into a digest.
pub(crate) enum Padded<'t> {
    Blocks(&'t [[u8; BLOCK]]),
    /// There was no room for its padding.
    Bytes(&'t [u8]),
}

impl<'t> Padded<'t> {
    /// The text that is the first `len` of `bytes`; the others are zero.
    #[inline]
    pub(crate) fn of(bytes: &'t mut [u8], len: usize) -> Self {
        let padded = padded_blocks(len) * BLOCK;
        if padded > bytes.len() {
            return Self::Bytes(&bytes[..len]);
        }
        pad(&mut bytes[..padded], len, len);
        Self::Blocks(bytes[..padded].as_chunks().0)
    }
}

/// How many blocks SHA-256 makes of the last `len` bytes of a text: a one bit and the length come behind them.
const fn padded_blocks(len: usize) -> usize {
    (len + 1 + size_of::<u64>()).div_ceil(BLOCK)
}

/// Pads the last blocks of a digest (FIPS 180-4, 5.1.1): `len` bytes of text, a one bit, zeros which are there already, and the
/// length in bits of a namespace's block and the `whole` text.
#[inline]
fn pad(blocks: &mut [u8], len: usize, whole: usize) {
    blocks[len] = 0x80;
    if let Some(last) = blocks.last_chunk_mut() {
        *last = ((BLOCK + whole) as u64 * 8).to_be_bytes();
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Namespace(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_id_is_what_a_plain_sha_256_gives_for_every_length() {
        let mut namespace = [0; BLOCK];
        let header = b"idem\x01\0\0\0\x04shop\0\0\0\0\0\0\0\x06charge";
        namespace[..32].copy_from_slice(&Sha256::digest(header));
        namespace[32..57].copy_from_slice(b"idem record id, version 1");
        let space = Namespace::new("shop", "", "charge");
        for len in 0..300 {
            let text = "k".repeat(len);
            let plain = Sha256::new().chain_update(namespace).chain_update(&text).finalize();
            assert_eq!(space.record(&text).as_bytes()[..], plain[..], "{len} bytes");
            let mut room = text.into_bytes();
            room.resize(len.max(256), 0);
            let padded = Padded::of(&mut room, len);
            assert_eq!(
                space.record_of_padded(&padded).as_bytes()[..],
                plain[..],
                "{len} bytes, padded in place"
            );
        }
    }
}

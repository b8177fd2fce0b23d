//! The identity of one attempt.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

/// The identity of one *attempt* to run a handler: 16 random bytes, fresh for each call.
///
/// Never a worker, host or connection: two deliveries in one process are two attempts. A store compares tokens to decide
/// who may complete a record, and answers the same token the same way when an operation is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; 16]);

impl Token {
    /// Draws a fresh token.
    ///
    /// The generator is xoshiro256++, one for each thread, seeded with 256 bits from the operating system. Tokens need to be
    /// unique, not secret: whoever can reach the store can do worse than to guess one.
    #[inline]
    pub fn fresh() -> Self {
        // As two words, which come back in registers and go straight to where the token is kept.
        let (high, low) = draw();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high.to_le_bytes());
        bytes[8..].copy_from_slice(&low.to_le_bytes());
        Self(bytes)
    }

    /// Makes a token from bytes that a store kept.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(")?;
        self.0[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("…)")
    }
}

/// The next 128 bits of this thread's generator.
fn draw() -> (u64, u64) {
    thread_local! {
        static STATE: Cell<[u64; 4]> = Cell::new(seed());
    }
    STATE.with(|state| {
        let mut s = state.get();
        let pair = (next(&mut s), next(&mut s));
        state.set(s);
        pair
    })
}

/// `RandomState` takes its keys from the operating system; SipHash spreads them over the four words.
fn seed() -> [u64; 4] {
    let random = RandomState::new();
    let id = std::process::id();
    [0_u64, 1, 2, 3].map(|word| random.hash_one((word, id, std::thread::current().id())) | 1)
}

/// One step of xoshiro256++ (Blackman and Vigna, 2019).
fn next(s: &mut [u64; 4]) -> u64 {
    let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
    let t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3].rotate_left(45);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tokens_do_not_repeat_within_or_across_threads() {
        let threads: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(|| (0..10_000).map(|_| Token::fresh()).collect::<Vec<_>>()))
            .collect();
        let all: HashSet<_> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
        assert_eq!(all.len(), 80_000);
    }
}

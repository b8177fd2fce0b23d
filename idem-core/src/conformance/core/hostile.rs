//! Bytes that a store must not take for anything but bytes, and numbers at their ends.

use std::time::Duration;

use super::super::checks::{checks, must_be};
use super::super::fixture::Fixture;
use super::super::messages::{DAY, again, ending, message, message_of};
use super::super::subject::{About, Subject};
use crate::machine::{Claim, Completion, Recorded, Renewed, StateKind, Verdict};
use crate::{Namespace, Token};

/// What has ended a string, a statement, a line or a field somewhere.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "a",
    "A",
    "a ",
    "a\0",
    "a\0b",
    "'",
    "''",
    "\"",
    "`",
    "\\",
    "\\0",
    "%",
    "%s%n",
    "\r\n",
    "a\r\nSET b c",
    "'; drop table idem; --",
    "{tag}",
    "*",
    ">",
    "a.b.*",
    "$1",
    ":a",
    "?",
    "é",
    "e\u{301}",
    "ß",
    "SS",
    "ss",
    "İ",
    "i",
    "\u{feff}a",
    "\u{202e}a",
];

checks! {
    $ __conformance_core_hostile, "core", Fixture;


    /// I7: replays return the bytes of the completion. Whatever bytes they are, and however many up to 1 MiB.
    fn results_come_back_byte_for_byte(store) {
        let mut bodies: Vec<Vec<u8>> = HOSTILE.iter().map(|text| text.as_bytes().to_vec()).collect();
        bodies.push((0..=255).collect());
        bodies.push(b"\xff\xfe\xc3\x28\xed\xa0\x80 is not UTF-8".to_vec());
        bodies.push(vec![0; 100]);
        // Around the lengths at which somebody's layout changes.
        for len in [93, 94, 95, 255, 256, 511, 512, 513, 4_095, 4_096, 65_535, 65_536] {
            bodies.push((0..len).map(|at: usize| at.to_le_bytes()[0] ^ 0x5a).collect());
        }
        bodies.push((0..1 << 20).map(|at: usize| at.to_le_bytes()[1] ^ at.to_le_bytes()[0]).collect());
        for body in bodies {
            let (done, failed) = (message(), message());
            let grant = store.grant(&done);
            must_be!(store, store.complete(&ending(&done, grant.fence, &body)), Recorded::Stored);
            let replayed =
                must_be!(store, store.claim(&again(&done)), Verdict::Completed { body, .. } => body);
            store.brings(replayed.as_ref(), &body);
            store.brings(store.is(&done, StateKind::Done).body.as_ref(), &body);
            let grant = store.grant(&failed);
            must_be!(store, store.fail(&ending(&failed, grant.fence, &body)), Recorded::Stored);
            let refused =
                must_be!(store, store.claim(&again(&failed)), Verdict::Refused { body, .. } => body);
            store.brings(refused.as_ref(), &body);
        }
    }

    /// Keys whose texts differ in case, form, length or ambiguity are different records.
    fn hostile_texts_are_records_of_their_own(store) {
        let namespace = Namespace::new("conformance", "", &format!("{:?}", Token::fresh()));
        let attempts: Vec<_> = HOSTILE.iter().map(|text| message_of(namespace.record(text))).collect();
        for (first, text) in attempts.iter().zip(HOSTILE) {
            let grant = store.grant(first);
            store.equal("the tries", grant.tries, 1);
            must_be!(store, store.complete(&ending(first, grant.fence, text.as_bytes())), Recorded::Stored);
        }
        for (first, text) in attempts.iter().zip(HOSTILE) {
            let body = must_be!(store, store.claim(&again(first)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), text.as_bytes());
        }
    }

    /// Clause 3: who writes is decided by the token, all sixteen bytes of it.
    fn tokens_are_compared_bit_by_bit(store) {
        for sent in [*Token::fresh().as_bytes(), [0; 16], [0xff; 16], *b"'\"\0\r\n\\%{}aAzZ  \xff"] {
            let first = Claim { token: Token::from_bytes(sent), ..message() };
            let grant = store.grant(&first);
            store.equal("whether it is resumed", store.grant(&first).resumed, true);
            for bit in 0..128 {
                let mut flipped = sent;
                flipped[bit / 8] ^= 1 << (bit % 8);
                let other = Claim { token: Token::from_bytes(flipped), ..first.clone() };
                must_be!(store, store.claim(&other), Verdict::InProgress { tries: 1, .. });
                must_be!(
                    store,
                    store.complete(&ending(&other, grant.fence, b"no")),
                    Recorded::Superseded { .. }
                );
            }
            must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
        }
    }

    /// Lease arithmetic saturates: a lease, a lifetime and a record of centuries end at the end of time, and not in the past.
    fn the_longest_times_are_no_times_of_the_past(store) {
        let longest = [
            Duration::from_secs(400 * 365 * 86_400),
            Duration::from_secs(u64::MAX / 1_000_000),
            Duration::MAX,
        ];
        for long in longest {
            let held = Claim { lease: long, keep: long, ..message() };
            store.grant(&held);
            must_be!(store, store.claim(&again(&held)), Verdict::InProgress { remaining, .. } if remaining > 1_000 * DAY);
            must_be!(store, store.renew(&held, long), Renewed::Renewed { remaining } if remaining > 1_000 * DAY);
            must_be!(store, store.claim(&again(&held)), Verdict::InProgress { remaining, .. } if remaining > 1_000 * DAY);
            let ending = Completion { ttl: long, keep: long, ..ending(&held, 1, b"for ever") };
            must_be!(store, store.complete(&ending), Recorded::Stored);
            let body = must_be!(store, store.claim(&again(&held)), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), b"for ever");
            store.sweep(1_000);
            let done = store.is(&held, StateKind::Done);
            store.holds("an end far ahead", done.ends_in > 1_000 * DAY, &done);
        }
    }

    /// A lease of nothing has lapsed when it is granted; it is not "no lease".
    fn the_shortest_lease_has_lapsed(store) {
        for short in [Duration::ZERO, Duration::from_nanos(1), Duration::from_nanos(999)] {
            let first = Claim { lease: short, ..message() };
            store.grant(&first);
            // Part of a microsecond is cut off, or it has passed by now.
            store.equal("the tries of the next", store.grant(&again(&first)).tries, 2);
        }
    }
}

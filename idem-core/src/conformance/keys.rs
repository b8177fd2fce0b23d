//! The group `keys`: a record is found by all 32 bytes of its key, whatever they are.
//!
//! Every store runs it. It is a group of its own for caches in front of a store, which may compare less of a digest than all of it.

use super::checks::{checks, must_be};
use super::fixture::Fixture;
use super::messages::{again, ending, message, message_of};
use super::subject::{About, Subject};
use crate::RecordId;
use crate::machine::{Recorded, Verdict};

checks! {
    $ __conformance_keys, "keys", Fixture;


    /// Bytes decide which record a key is; one that differs in a single bit is another.
    fn keys_are_compared_bit_by_bit(store) {
        let sent = *message().id.as_bytes();
        let first = message_of(RecordId::from_bytes(sent));
        let grant = store.grant(&first);
        for bit in 0..256 {
            let mut flipped = sent;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let other = message_of(RecordId::from_bytes(flipped));
            store.equal("the tries of another key", store.grant(&other).tries, 1);
            must_be!(store, store.complete(&ending(&other, 1, b"another's")), Recorded::Stored);
        }
        must_be!(store, store.claim(&again(&first)), Verdict::InProgress { tries: 1, .. });
        must_be!(store, store.complete(&ending(&first, grant.fence, b"done")), Recorded::Stored);
    }

    /// No statement is built from a key: one made of quotes, of line ends, of zeros or of no text at all is a key.
    fn any_32_bytes_are_a_key(store) {
        let filled = [
            0x00, 0x01, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x27, 0x2a, 0x41, 0x5c, 0x61, 0x7f, 0x80, 0xc3,
            0xff,
        ];
        let mut ids: Vec<[u8; 32]> = filled.iter().map(|byte| [*byte; 32]).collect();
        ids.push(*b"'; drop table idem; -- \0\r\n\\x00 \xff");
        ids.push(*b"a\0bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
        ids.push(*b"a\0cccccccccccccccccccccccccccccc");
        ids.push(*b"{tag}:aaaaaaaaaaaaaaaaaaaaaaaaaa");
        ids.push(*b"lower case and upper case are no");
        ids.push(*b"LOWER CASE AND UPPER CASE ARE NO");
        ids.push(*b"ends in a space, or in a nil:\0\0 ");
        ids.push(*b"ends in a space, or in a nil:\0\0\0");
        for id in &ids {
            let first = message_of(RecordId::from_bytes(*id));
            let grant = store.grant(&first);
            store.equal("the tries", grant.tries, 1);
            must_be!(store, store.complete(&ending(&first, grant.fence, id)), Recorded::Stored);
        }
        for id in &ids {
            let next = message_of(RecordId::from_bytes(*id));
            let body = must_be!(store, store.claim(&next), Verdict::Completed { body, .. } => body);
            store.brings(body.as_ref(), id);
        }
    }
}

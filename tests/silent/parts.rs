//! Types that look like what cannot be a part, and are parts; and keys outside of handlers.

use idem::{EventTime, Key, KeyPart, KeyWriter, MemoryStore, idempotent, key};

use super::{Keyed, same_key};

/// Not the clock's: the duration of a lease, in months.
#[derive(Clone, Copy, KeyPart)]
struct Duration(u16);

#[idempotent(key = "lease:<tenant>:<duration>", store = store)]
fn named_like_a_clock(tenant: u64, duration: Duration, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (tenant, duration, store);
    Ok(key.to_string())
}

/// A list of its own kind, with one text.
struct Vec<T>(T);

impl KeyPart for Vec<u64> {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.display(self.0);
    }
}

#[idempotent(key = "lane:<lane>", store = store)]
fn named_like_a_list(lane: &Vec<u64>, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (lane, store);
    Ok(key.to_string())
}

#[idempotent(key = "blob:<digest>:<name>", store = store)]
fn bytes(digest: [u8; 4], name: &[u8], store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (digest, name, store);
    Ok(key.to_string())
}

struct Reading {
    meter_id: u64,
    taken_at_ms: i64,
}

impl Reading {
    const fn taken_at(&self) -> EventTime {
        EventTime::from_unix_millis(self.taken_at_ms)
    }
}

#[idempotent(key = "reading:<reading.meter_id>:<reading.taken_at()>", store = store)]
fn the_events_own_time(reading: &Reading, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (reading.meter_id, store);
    Ok(key.to_string())
}

#[derive(KeyPart)]
enum Side {
    Buyer,
    SellerOfRecord,
}

#[derive(KeyPart)]
struct Party {
    order: u64,
    side: Side,
}

#[idempotent(key = "mail:<party>", store = store)]
fn a_struct_of_parts(party: &Party, store: &MemoryStore, #[key] key: &Key) -> Keyed {
    let _ = (party.order, store);
    Ok(key.to_string())
}

/// One of the lines that a message is split into.
fn of_a_line(reading: &Reading, line: usize) -> Keyed {
    let key = key!("line:<reading.taken_at()>:<line>", reading: &Reading)?;
    Ok(key.to_string())
}

#[test]
fn types_are_told_by_what_they_are() {
    let store = MemoryStore::new();
    same_key(|| named_like_a_clock(7, Duration(12), &store), "lease:7:12");
    same_key(|| named_like_a_list(&Vec(3), &store), "lane:3");
    same_key(|| bytes([0, 1, 0xfe, 0xff], b"a", &store), "blob:0001feff:61");
    let party = |side| Party { order: 7, side };
    same_key(|| a_struct_of_parts(&party(Side::Buyer), &store), "mail:7/buyer");
    same_key(|| a_struct_of_parts(&party(Side::SellerOfRecord), &store), "mail:7/seller_of_record");
}

#[test]
fn an_events_own_time_stands_beside_an_id() {
    let store = MemoryStore::new();
    let reading = Reading { meter_id: 7, taken_at_ms: 1_796_047_407_120 };
    same_key(|| the_events_own_time(&reading, &store), "reading:7:2026-11-30T14:03:27.120Z");
    same_key(|| of_a_line(&reading, 2), "line:2026-11-30T14%3A03%3A27.120Z:2");
}

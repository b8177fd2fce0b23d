//! Parts that change from one reading to the next, of which no proof is asked: debug builds read the key twice.
#![cfg(debug_assertions)]

use std::cell::Cell;
use std::ops::{Deref, Index};

use idem::{ErrorKind, MemoryStore, idempotent};

/// Counts how often it is read.
#[derive(Default)]
struct Counted {
    reads: Cell<u64>,
    read: [u64; 4],
}

impl Index<usize> for Counted {
    type Output = u64;

    fn index(&self, _: usize) -> &u64 {
        &self.read[self.next() as usize % 4]
    }
}

struct Wrapped {
    reads: Cell<usize>,
    orders: [Order; 2],
}

struct Order {
    id: u64,
}

impl Deref for Wrapped {
    type Target = Order;

    fn deref(&self) -> &Order {
        &self.orders[self.reads.replace(1 - self.reads.get())]
    }
}

impl Counted {
    /// A `const fn` may change a `Cell`.
    const fn next(&self) -> u64 {
        let read = self.reads.replace(0);
        self.reads.replace(read + 1);
        read
    }

    fn vouched_for(&self) -> u64 {
        self.next()
    }
}

#[idempotent(key = "order:<counted[0]>", store = store)]
fn by_index(counted: &Counted, store: &MemoryStore) -> Result<(), idem::Error> {
    let _ = (counted, store);
    Ok(())
}

#[idempotent(key = "order:<wrapped.id>", store = store)]
fn by_deref(wrapped: &Wrapped, store: &MemoryStore) -> Result<(), idem::Error> {
    let _ = (wrapped.id, store);
    Ok(())
}

#[idempotent(key = "order:<counted.next()>", store = store)]
fn by_a_cell(counted: &Counted, store: &MemoryStore) -> Result<(), idem::Error> {
    let _ = (counted, store);
    Ok(())
}

#[idempotent(
    key = "order:<counted.vouched_for()>",
    store = store,
    trust(counted.vouched_for(), reason = "said without looking")
)]
fn by_trust(counted: &Counted, store: &MemoryStore) -> Result<(), idem::Error> {
    let _ = (counted, store);
    Ok(())
}

#[test]
fn a_part_that_counts_its_readings_is_refused_in_a_debug_build() {
    let store = MemoryStore::new();
    let counted = Counted { read: [1, 2, 3, 4], ..Counted::default() };
    let wrapped = Wrapped { reads: Cell::new(0), orders: [Order { id: 1 }, Order { id: 2 }] };
    for answer in [
        by_index(&counted, &store),
        by_deref(&wrapped, &store),
        by_a_cell(&counted, &store),
        by_trust(&counted, &store),
    ] {
        let refused = answer.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidKey, "{refused}");
        assert!(refused.to_string().contains("read again"), "{refused}");
    }
}

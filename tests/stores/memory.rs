//! `MemoryStore`.

use std::sync::Arc;

use idem::conformance::{OnClock, Small};
use idem::{MemoryStore, Store};

/// Small enough that it has one shard, and evicts what is finished.
fn of_one_shard() -> MemoryStore {
    MemoryStore::builder().max_records(2_000).build()
}

fn on_clock() -> OnClock {
    OnClock::new(|clock| MemoryStore::builder().clock(clock).build())
}

fn of_one_shard_on_clock() -> OnClock {
    OnClock::new(|clock| MemoryStore::builder().max_records(2_000).clock(clock).build())
}

/// The handle is a type of its own.
fn handle() -> Arc<dyn Store> {
    MemoryStore::new().handle()
}

idem::conformance_tests!(core, plain, MemoryStore::new());
idem::conformance_tests!(keys, keys, MemoryStore::new());
idem::conformance_tests!(core, one_shard, of_one_shard());
idem::conformance_tests!(core, a_handle, handle());
idem::conformance_tests!(batch, batches, MemoryStore::new());
idem::conformance_tests!(batch, batches_of_a_handle, handle());
idem::conformance_tests!(clock, on_a_clock, on_clock());
idem::conformance_tests!(clock, one_shard_on_a_clock, of_one_shard_on_clock());
idem::conformance_tests!(bounded, small, Small::new(MemoryStore::builder().max_records(50).build(), 51));

//! `SeenSet`, over each store.
//!
//! Not over `KeyOnly`: that is no store which remembers. It grants every claim, so no clause but its own documentation speaks of
//! it, and `idem-core/tests/seen` tests it there.

use std::time::Duration;

use idem::conformance::{OnClock, Small};
use idem::{MemoryStore, SeenSet};

use crate::reference::{Reference, Sound};

fn over_memory() -> SeenSet<MemoryStore> {
    SeenSet::new(MemoryStore::new())
}

/// Every answer is forgotten at once, or soon after.
fn forgetful() -> SeenSet<MemoryStore> {
    SeenSet::builder(MemoryStore::new()).max_count(3).max_age(Duration::from_secs(1)).build()
}

fn on_clock() -> OnClock {
    OnClock::new(|clock| SeenSet::new(MemoryStore::builder().clock(clock).build()))
}

fn small() -> Small {
    Small::new(SeenSet::new(MemoryStore::builder().max_records(50).build()), 51)
}

idem::conformance_tests!(core, memory, over_memory());
idem::conformance_tests!(core, memory_forgetful, forgetful());
idem::conformance_tests!(core, reference, SeenSet::new(Reference::new(Sound)));
idem::conformance_tests!(
    #[ignore = "the set compares half of a key: 128 bits of a digest, which no two messages share by accident"]
    keys,
    memory_keys,
    over_memory()
);
idem::conformance_tests!(batch, memory_batch, over_memory());
idem::conformance_tests!(clock, memory_on_a_clock, on_clock());
idem::conformance_tests!(bounded, memory_small, small());

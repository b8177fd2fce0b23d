//! The crate `idempotent`, version 0.3, with its memory store: an actor behind a channel of tokio's.

use std::hint::black_box;
use std::time::Duration;

use idempotent::entry::ExistingEntry;
use idempotent::fingerprint::{DefaultFingerprintStrategy, FingerprintStrategy};
use idempotent::store::memory::MemoryStore;
use idempotent::store::{IdempotencyStore, InsertResult};
use idempotent::{CachedResponse, IdempotencyEntry, IdempotencyKey, Metadata};
use tokio::runtime::{Builder, Runtime};

use super::contender::{Contender, Messages, RESULT};

/// The runtime has one thread, which is the caller's: that is the quickest way to the actor and back.
pub(crate) struct Idempotent {
    store: MemoryStore,
    runtime: Runtime,
    messages: Messages,
}

impl Idempotent {
    /// What the store says of a key, and the entry that was offered.
    async fn insert(&self, key: &IdempotencyKey) -> InsertResult {
        let fingerprint = DefaultFingerprintStrategy.compute("charge", &[]);
        let entry = IdempotencyEntry::new(fingerprint, Duration::from_hours(24));
        let Ok(result) = self.store.try_insert(key, entry).await;
        result
    }

    fn key(&self, key: usize) -> IdempotencyKey {
        IdempotencyKey::new(self.messages.key(key)).expect("a key of 40 bytes")
    }
}

impl Contender for Idempotent {
    const NAME: &'static str = "idempotent 0.3";

    fn empty(keys: usize) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = runtime.block_on(async { MemoryStore::new(16, Duration::from_hours(1)) });
        Self { store, runtime, messages: Messages::new(keys) }
    }

    fn first(&self, key: usize) {
        let key = self.key(key);
        self.runtime.block_on(async {
            if let InsertResult::Claimed { fencing_token } = self.insert(&key).await {
                let body = black_box(RESULT).to_vec().into();
                let response = CachedResponse { status_code: 200, metadata: Metadata::default(), body };
                let fingerprint = DefaultFingerprintStrategy.compute("charge", &[]);
                let entry = IdempotencyEntry::new(fingerprint, Duration::from_hours(24));
                let Ok(()) = self.store.complete(&key, entry.complete(response), fencing_token).await;
            }
        });
    }

    fn replay(&self, key: usize) -> usize {
        let key = self.key(key);
        match self.runtime.block_on(self.insert(&key)) {
            InsertResult::Exists(ExistingEntry::Completed(entry)) => black_box(entry).response().body.len(),
            _ => 0,
        }
    }
}

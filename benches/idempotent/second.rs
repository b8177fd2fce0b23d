//! The crate `idempotent`, version 2.0, with its memory store: an actor behind a channel of tokio's.
//!
//! The runtime has one thread, which is the caller's: that is the quickest way to the actor and back.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use idempotent::memory::MemoryStore;
use idempotent::{CachedResponse, ExecutionOutcome, IdempotencyKey, IdempotencyStore, Metadata};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use crate::memory::contender::{Contender, RESULT, message_id};

const LEASE: Duration = Duration::from_secs(30);
const KEPT: Duration = Duration::from_hours(24);

struct Store {
    store: MemoryStore,
    runtime: Runtime,
    ids: Vec<String>,
}

impl Store {
    fn empty(keys: usize) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = MemoryStore::builder().runtime(runtime.handle().clone()).try_build().expect("a store");
        Self { store, runtime, ids: (0..keys).map(message_id).collect() }
    }

    fn key(&self, key: usize) -> IdempotencyKey {
        IdempotencyKey::new(format!("msg-{}", self.ids[key])).expect("a key of 40 bytes")
    }
}

/// Raw bytes, as a response.
pub(crate) struct Responses(Store);

impl Responses {
    fn call(&self, key: usize) -> ExecutionOutcome<CachedResponse> {
        let key = self.0.key(key);
        let call = async {
            let claim = self.0.store.claim(&key, LEASE).fingerprint("charge", &[]);
            let body = async |_| {
                let body = black_box(RESULT).to_vec().into();
                Ok::<_, Box<dyn Error + Send + Sync>>(CachedResponse::new(200, Metadata::new(), body))
            };
            claim.execute_or_replay(KEPT, body).await.expect("a store in memory")
        };
        self.0.runtime.block_on(call)
    }
}

impl Contender for Responses {
    const NAME: &'static str = "idempotent 2.0: bytes";

    fn empty(keys: usize) -> Self {
        Self(Store::empty(keys))
    }

    fn first(&self, key: usize) {
        assert!(matches!(self.call(key), ExecutionOutcome::Executed(_)));
    }

    fn replay(&self, key: usize) -> usize {
        match self.call(key) {
            ExecutionOutcome::Replayed(response) => black_box(response).body.len(),
            _ => 0,
        }
    }
}

/// A typed result, as JSON: what an annotated handler does.
pub(crate) struct Values(Store);

/// 64 bytes of JSON.
#[derive(Serialize, Deserialize)]
struct Receipt {
    charge: String,
    amount: u64,
}

impl Values {
    fn call(&self, key: usize) -> Option<Receipt> {
        let key = self.0.key(key);
        let call = async {
            let claim = self.0.store.claim(&key, LEASE).fingerprint("charge", &[]).json();
            let body = async |_| {
                Ok::<_, Box<dyn Error + Send + Sync>>(Receipt {
                    charge: key.as_str()[4..38].to_owned(),
                    amount: black_box(1_200_000),
                })
            };
            claim.execute_or_replay(KEPT, body).await.expect("a store in memory")
        };
        match self.0.runtime.block_on(call) {
            ExecutionOutcome::Executed(receipt) | ExecutionOutcome::Replayed(receipt) => Some(receipt),
            _ => None,
        }
    }
}

impl Contender for Values {
    const NAME: &'static str = "idempotent 2.0: JSON";

    fn empty(keys: usize) -> Self {
        Self(Store::empty(keys))
    }

    fn first(&self, key: usize) {
        assert!(black_box(self.call(key)).is_some());
    }

    fn replay(&self, key: usize) -> usize {
        let receipt = self.call(key).expect("a redelivery is replayed");
        black_box(receipt.charge.len()) + RESULT.len() - 34
    }
}

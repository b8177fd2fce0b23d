//! What remembers, and how it is asked: one first delivery, one redelivery.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cached::Cached;
use idem::machine::{Claim, Completion, OnLapse, Verdict};
use idem::{Body, MemoryStore, Namespace, RecordId, Store, Token};

/// The result of the work: 64 bytes.
pub(crate) const RESULT: [u8; 64] = [b'r'; 64];

/// Remembers the result of each key.
pub(crate) trait Contender: Sync {
    /// As it stands in the table.
    const NAME: &'static str;

    /// Ready for `keys` keys, none of which it knows.
    fn empty(keys: usize) -> Self;

    /// Finds that key number `key` is new, and remembers its result.
    fn first(&self, key: usize);

    /// Finds key number `key`, and hands out a copy of its result.
    fn replay(&self, key: usize) -> usize;
}

/// The id of a message, 36 bytes as a UUID is.
pub(crate) fn message_id(key: usize) -> String {
    format!("{key:08x}-0000-4000-8000-{key:012x}")
}

/// The ids of all messages.
pub(crate) struct Messages(Vec<String>);

impl Messages {
    pub(crate) fn new(keys: usize) -> Self {
        Self((0..keys).map(message_id).collect())
    }

    /// A key of 40 bytes, as a handler makes it from its message.
    pub(crate) fn key(&self, key: usize) -> String {
        format!("msg:{}", self.0[key])
    }
}

/// What most people write.
pub(crate) struct HandWritten(Mutex<HashMap<String, Vec<u8>>>, Messages);

impl Contender for HandWritten {
    const NAME: &'static str = "by hand: Mutex<HashMap>";

    fn empty(keys: usize) -> Self {
        Self(Mutex::default(), Messages::new(keys))
    }

    fn first(&self, key: usize) {
        let key = self.1.key(key);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if known.is_none() {
            let result = black_box(RESULT).to_vec();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, result);
        }
    }

    fn replay(&self, key: usize) -> usize {
        let key = self.1.key(key);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        black_box(known).map_or(0, |result| result.len())
    }
}

/// idem's store: claim, completion, replay, under ids that are ready.
pub(crate) struct Idem {
    store: MemoryStore,
    ids: Vec<RecordId>,
}

/// A fresh attempt's claim of a record.
pub(crate) fn claim(id: RecordId) -> Claim {
    Claim {
        id,
        token: Token::fresh(),
        fingerprint: None,
        lease: Duration::from_secs(30),
        keep: Duration::from_hours(45 * 24),
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

impl Contender for Idem {
    const NAME: &'static str = "idem: MemoryStore";

    fn empty(keys: usize) -> Self {
        let namespace = Namespace::new("benches", "", "memory");
        let ids = (0..keys).map(|key| namespace.record(&format!("msg:{}", message_id(key)))).collect();
        Self { store: MemoryStore::builder().max_records(4 * keys).build(), ids }
    }

    fn first(&self, key: usize) {
        let asked = claim(self.ids[key]);
        let reply = self.store.claim(&asked);
        if let Some(Ok(Verdict::Claimed(grant))) = reply.peek() {
            let recorded = self.store.complete(&Completion {
                id: asked.id,
                token: asked.token,
                fence: grant.fence,
                fingerprint: None,
                body: Body::copy_from(&black_box(RESULT)),
                ttl: Duration::from_hours(7 * 24),
                keep: asked.keep,
            });
            black_box(recorded.peek().is_some());
        }
    }

    fn replay(&self, key: usize) -> usize {
        let reply = self.store.claim(&claim(self.ids[key]));
        match black_box(&reply).peek() {
            Some(Ok(Verdict::Completed { body: Some(body), .. })) => body.len(),
            _ => 0,
        }
    }
}

pub(crate) struct DashMap(dashmap::DashMap<String, Vec<u8>>, Messages);

impl Contender for DashMap {
    const NAME: &'static str = "dashmap";

    fn empty(keys: usize) -> Self {
        Self(dashmap::DashMap::new(), Messages::new(keys))
    }

    fn first(&self, key: usize) {
        let key = self.1.key(key);
        if !self.0.contains_key(&key) {
            self.0.insert(key, black_box(RESULT).to_vec());
        }
    }

    fn replay(&self, key: usize) -> usize {
        let known = self.0.get(&self.1.key(key)).map(|result| result.clone());
        black_box(known).map_or(0, |result| result.len())
    }
}

pub(crate) struct Moka(moka::sync::Cache<String, Vec<u8>>, Messages);

impl Contender for Moka {
    const NAME: &'static str = "moka (sync)";

    fn empty(keys: usize) -> Self {
        Self(moka::sync::Cache::new(4 * keys as u64), Messages::new(keys))
    }

    fn first(&self, key: usize) {
        let key = self.1.key(key);
        if self.0.get(&key).is_none() {
            self.0.insert(key, black_box(RESULT).to_vec());
        }
    }

    fn replay(&self, key: usize) -> usize {
        black_box(self.0.get(&self.1.key(key))).map_or(0, |result| result.len())
    }
}

/// What `#[cached]` writes: a mutex over its unbounded map.
pub(crate) struct CachedMap(Mutex<cached::UnboundCache<String, Vec<u8>>>, Messages);

impl Contender for CachedMap {
    const NAME: &'static str = "cached";

    fn empty(keys: usize) -> Self {
        Self(
            Mutex::new(cached::UnboundCache::builder().build().expect("no bound to be wrong")),
            Messages::new(keys),
        )
    }

    fn first(&self, key: usize) {
        let key = self.1.key(key);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).cache_get(&key).cloned();
        if known.is_none() {
            let result = black_box(RESULT).to_vec();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).cache_set(key, result);
        }
    }

    fn replay(&self, key: usize) -> usize {
        let key = self.1.key(key);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).cache_get(&key).cloned();
        black_box(known).map_or(0, |result| result.len())
    }
}

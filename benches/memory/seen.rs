//! What remembers that a message was handled, and not what came of it.

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use idem::machine::{Completion, Verdict};
use idem::{Body, KeyOnly, Namespace, RecordId, SeenSet, Store};

use super::contender::{Contender, Messages, claim, message_id};

/// What most people write.
pub(crate) struct HandWrittenSet(Mutex<HashSet<String>>, Messages);

impl Contender for HandWrittenSet {
    const NAME: &'static str = "by hand: HashSet";

    fn empty(keys: usize) -> Self {
        Self(Mutex::default(), Messages::new(keys))
    }

    fn first(&self, key: usize) {
        let key = self.1.key(key);
        black_box(self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key));
    }

    fn replay(&self, key: usize) -> usize {
        let key = self.1.key(key);
        usize::from(self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&key))
    }
}

/// idem's seen set in front of key-only mode, without results, under ids that are ready.
pub(crate) struct IdemSeen {
    set: SeenSet<KeyOnly>,
    ids: Vec<RecordId>,
}

impl Contender for IdemSeen {
    const NAME: &'static str = "idem: SeenSet";

    fn empty(keys: usize) -> Self {
        let namespace = Namespace::new("benches", "", "seen");
        let ids = (0..keys).map(|key| namespace.record(&format!("msg:{}", message_id(key)))).collect();
        let set = SeenSet::builder(KeyOnly)
            .max_count(2 * keys)
            .max_age(Duration::from_hours(24))
            .keep_results(false)
            .build();
        Self { set, ids }
    }

    fn first(&self, key: usize) {
        let asked = claim(self.ids[key]);
        if let Some(Ok(Verdict::Claimed(grant))) = self.set.claim(&asked).peek() {
            let recorded = self.set.complete(&Completion {
                id: asked.id,
                token: asked.token,
                fence: grant.fence,
                fingerprint: None,
                body: Body::copy_from(b"jnull"),
                ttl: Duration::from_hours(24),
                keep: Duration::from_hours(24),
            });
            black_box(recorded.wait()).expect("key-only mode answers");
        }
    }

    fn replay(&self, key: usize) -> usize {
        let reply = self.set.claim(&claim(self.ids[key]));
        let skipped = matches!(reply.peek(), Some(Ok(Verdict::Completed { skipped: true, .. })));
        assert!(skipped, "what was handled is skipped");
        usize::from(skipped)
    }
}

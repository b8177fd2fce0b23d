//! The same with the store.

use std::time::Duration;

use idem::machine::{Claim, Completion, OnLapse, Recorded, Verdict};
use idem::{Body, Fingerprint, PostgresStore, RecordId, Store, Token};
use tokio::task::JoinSet;

use crate::rounds::Key;
use crate::{RESULT, share};

pub(crate) struct Idem(PostgresStore);

impl Idem {
    pub(crate) fn new(store: PostgresStore) -> Self {
        Self(store)
    }

    /// As many handlers as connections, each with its share of `keys`.
    async fn each<F>(&self, keys: &[Key], handlers: usize, work: impl Fn(PostgresStore, Vec<Key>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        for keys in share(keys, handlers) {
            tasks.spawn(work(self.0.clone(), keys));
        }
        tasks.join_all().await;
    }

    pub(crate) async fn first(&self, keys: &[Key], handlers: usize) {
        self.each(keys, handlers, |store, keys| async move {
            for key in keys {
                let claim = claim(key.record);
                let fence = match store.claim(&claim).await.expect("a claim") {
                    Verdict::Claimed(grant) => grant.fence,
                    other => panic!("a message that is new: {other:?}"),
                };
                let recorded = store.complete(&completion(&claim, fence)).await;
                assert_eq!(recorded.expect("a result"), Recorded::Stored);
            }
        })
        .await;
    }

    pub(crate) async fn replay(&self, keys: &[Key], handlers: usize, passes: usize) {
        self.each(keys, handlers, move |store, keys| async move {
            for key in (0..passes).flat_map(|_| &keys) {
                match store.claim(&claim(key.record)).await.expect("a claim") {
                    Verdict::Completed { body: Some(body), .. } => assert_eq!(*body, RESULT),
                    other => panic!("{other:?}"),
                }
            }
        })
        .await;
    }
}

fn claim(id: RecordId) -> Claim {
    Claim {
        id,
        token: Token::fresh(),
        fingerprint: Some(Fingerprint::from_bytes([7; 16])),
        lease: Duration::from_secs(30),
        keep: Duration::from_hours(45 * 24),
        on_lapse: OnLapse::Rerun,
        max_tries: 5,
        durable: false,
    }
}

fn completion(claim: &Claim, fence: u64) -> Completion {
    Completion {
        id: claim.id,
        token: claim.token,
        fence,
        fingerprint: claim.fingerprint,
        body: Body::copy_from(&RESULT),
        ttl: Duration::from_hours(7 * 24),
        keep: Duration::from_hours(45 * 24),
    }
}

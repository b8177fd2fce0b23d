//! The same with the store.

use idem::machine::{Recorded, Verdict};
use idem::{PostgresStore, Store};
use idem_benches::{Key, claim, completion, fence};
use tokio::task::JoinSet;

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
                let fence = fence(store.claim(&claim).await.expect("a claim"));
                let recorded = store.complete(&completion(&claim, fence, &RESULT)).await;
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

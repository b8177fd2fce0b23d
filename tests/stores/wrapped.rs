//! Wrappers: an `Arc` of a store, one of `dyn Store`, what a batch puts in front of a store, and stores whose answers come later, from nowhere or from a runtime.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use idem::conformance::{Batched, Fixture, OnClock, Small};
use idem::machine::{Claim, Completion, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict};
use idem::{Clock, MemoryStore, RecordId, Reply, Store, StoreClass, StoreIdentity, Token};

fn shared() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new())
}

fn shared_and_erased() -> Arc<dyn Store> {
    Arc::new(shared())
}

idem::conformance_tests!(core, arc, shared());
idem::conformance_tests!(core, arc_of_dyn, shared_and_erased());
idem::conformance_tests!(keys, arc_of_dyn_keys, shared_and_erased());
idem::conformance_tests!(batch, arc_of_dyn_batch, shared_and_erased());
idem::conformance_tests!(core, later, Later::new(When::PolledAgain));
idem::conformance_tests!(batch, later_batch, Later::new(When::PolledAgain));
idem::conformance_tests!(core, on_tokio, OnTokio::new());
idem::conformance_tests!(batch, on_tokio_batch, OnTokio::new());
idem::conformance_tests!(core, batched, Batched::new(MemoryStore::new()));
idem::conformance_tests!(keys, batched_keys, Batched::new(MemoryStore::new()));
idem::conformance_tests!(batch, batched_batch, Batched::new(MemoryStore::new()));
idem::conformance_tests!(clock, batched_on_a_clock, Batched::new(on_clock()));
idem::conformance_tests!(bounded, batched_small, Batched::new(small()));
idem::conformance_tests!(core, batched_later, Batched::new(Later::new(When::PolledAgain)));
idem::conformance_tests!(core, batched_on_tokio, Batched::new(OnTokio::new()));

fn on_clock() -> OnClock {
    OnClock::new(|clock| MemoryStore::builder().clock(clock).build())
}

fn small() -> Small {
    Small::new(MemoryStore::builder().max_records(50).build(), 51)
}

/// A store whose replies are driven by the runtime that they need.
struct OnTokio {
    store: Later,
    runtime: tokio::runtime::Runtime,
}

impl OnTokio {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        Self { store: Later::new(When::Spawned), runtime }
    }
}

impl Fixture for OnTokio {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    fn drive(&self, work: Pin<&mut (dyn Future<Output = ()> + Send + '_)>) {
        self.runtime.block_on(work);
    }
}

/// Answers later, and does nothing before.
#[derive(Clone)]
struct Later {
    store: Arc<dyn Store>,
    when: When,
}

#[derive(Clone, Copy)]
enum When {
    PolledAgain,
    /// Once a task of the runtime has done it; a panic where there is no runtime.
    Spawned,
}

impl Later {
    fn new(when: When) -> Self {
        Self { store: Arc::new(MemoryStore::new()), when }
    }

    fn reply<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Store) -> Reply<T> + Send + 'static,
    ) -> Reply<T> {
        let Self { store, when } = self.clone();
        Reply::later(async move {
            match when {
                When::PolledAgain => {
                    let mut polled = false;
                    poll_fn(|cx| {
                        if std::mem::replace(&mut polled, true) {
                            return Poll::Ready(());
                        }
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    })
                    .await;
                    ask(&*store).wait()
                }
                When::Spawned => {
                    tokio::spawn(async move { ask(&*store).wait() }).await.expect("a task that ends")
                }
            }
        })
    }
}

impl Store for Later {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    fn class(&self) -> StoreClass {
        self.store.class()
    }

    fn clock(&self) -> Clock {
        self.store.clock()
    }

    fn identity(&self) -> StoreIdentity {
        self.store.identity()
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        let claim = claim.clone();
        self.reply(move |store| store.claim(&claim))
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let claims = claims.to_vec();
        self.reply(move |store| store.claim_many(&claims))
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        let renewal = renewal.clone();
        self.reply(move |store| store.renew(&renewal))
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        let completion = completion.clone();
        self.reply(move |store| store.complete(&completion))
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        let completion = completion.clone();
        self.reply(move |store| store.fail(&completion))
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        let (id, token) = (*id, *token);
        self.reply(move |store| store.release(&id, &token))
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        let id = *id;
        self.reply(move |store| store.forget(&id, force))
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        let id = *id;
        self.reply(move |store| store.inspect(&id))
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        self.reply(move |store| store.sweep(limit))
    }
}

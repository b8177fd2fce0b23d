//! A store in front of a store: claims and completions of many calls go in one round trip.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use super::lane::{Answers, Lane};
use crate::clock::Clock;
use crate::join::{Join, Woken};
use crate::machine::{Claim, Completion, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict};
use crate::store::{Reply, Store, StoreClass, StoreHandle, StoreIdentity};
use crate::{RecordId, StoreError, Token};

/// Claims and completions gather here until whoever drives them [advances](Gathering::advance) them; all else passes through.
pub(crate) struct Gathering {
    this: Weak<Self>,
    store: StoreHandle,
    claims: Arc<Lane<Claim, Verdict>>,
    completions: Arc<Lane<Completion, Recorded>>,
    driver: Arc<Woken>,
}

impl Gathering {
    pub(super) fn new(store: StoreHandle, driver: Arc<Woken>, calls: usize) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            store,
            claims: Lane::new(calls),
            completions: Lane::new(calls),
            driver,
        })
    }

    /// With nobody to rouse: it is advanced by those who wait.
    #[cfg(feature = "conformance")]
    pub(crate) fn over(store: Arc<dyn Store>) -> Arc<Self> {
        Self::new(StoreHandle::shared(store), Arc::default(), 0)
    }

    /// Sends what has gathered, and hears what has been answered.
    pub(crate) fn advance(&self, cx: &mut Context<'_>) {
        // First, so that who claims a record after its completion finds it.
        self.completions
            .advance(cx, |completions| self.send(completions, Store::complete_many, Store::complete));
        self.claims.advance(cx, |claims| self.send(claims, Store::claim_many, Store::claim));
    }

    /// Lets nothing more gather. What has gathered, or is under way, goes on in the background.
    pub(super) fn close(&self) {
        self.claims.close();
        self.completions.close();
        if !self.is_idle() {
            self.store.spawn(Box::pin(Drain(self.shared())));
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.claims.is_idle() && self.completions.is_idle()
    }

    fn shared(&self) -> Arc<Self> {
        self.this.upgrade().unwrap_or_else(|| unreachable!("it is borrowed from an `Arc`"))
    }

    /// One round trip for all. If it fails with an error that may be about one of them, each is asked by itself: one record that
    /// cannot be read must not keep a whole batch from being worked on.
    fn send<Q: Send + Sync + 'static, A: Send + 'static>(
        &self,
        asked: Vec<Q>,
        many: fn(&dyn Store, &[Q]) -> Reply<Vec<A>>,
        one: fn(&dyn Store, &Q) -> Reply<A>,
    ) -> Answers<A> {
        let store = self.store.clone();
        Box::pin(async move {
            if let [only] = &asked[..] {
                return vec![one(&*store, only).await];
            }
            match many(&*store, &asked).await {
                Ok(answers) if answers.len() == asked.len() => answers.into_iter().map(Ok).collect(),
                // Unknown for all of them, and all send it again with the same token.
                Err(error) if error.is_transient() => {
                    asked.iter().map(|_| Err(error.clone())).collect::<Vec<Result<A, StoreError>>>()
                }
                _ => Join::new(asked.iter().map(|asked| one(&*store, asked))).await,
            }
        })
    }
}

impl Store for Gathering {
    fn handle(&self) -> Arc<dyn Store> {
        self.shared()
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
        let Some(ticket) = self.claims.add(claim.clone()) else { return self.store.claim(claim) };
        self.driver.rouse();
        Reply::owed(ticket)
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        self.store.claim_many(claims)
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.store.renew(renewal)
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        let Some(ticket) = self.completions.add(completion.clone()) else {
            return self.store.complete(completion);
        };
        self.driver.rouse();
        Reply::owed(ticket)
    }

    fn complete_many(&self, completions: &[Completion]) -> Reply<Vec<Recorded>> {
        self.store.complete_many(completions)
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        self.store.fail(completion)
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.store.release(id, token)
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        self.store.forget(id, force)
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        self.store.inspect(id)
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        self.store.sweep(limit)
    }

    fn dropped(&self, id: &RecordId, token: &Token) {
        self.store.dropped(id, token);
    }

    fn can_block(&self) -> bool {
        self.store.can_block()
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.store.spawn(task);
    }
}

/// Drives to its end what the batch has left.
struct Drain(Arc<Gathering>);

impl Future for Drain {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.advance(cx);
        if self.0.is_idle() { Poll::Ready(()) } else { Poll::Pending }
    }
}

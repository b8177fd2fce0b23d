//! A store in front of a store: claims of many calls go in one round trip, and so do their ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use super::lane::{Answers, Lane, Ticket};
use crate::clock::Clock;
use crate::join::{Join, Woken};
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use crate::store::{Reply, Store, StoreClass, StoreHandle, StoreIdentity, end_one};
use crate::{RecordId, StoreError, Token};

/// Claims and ends gather here until whoever drives them [advances](Gathering::advance) them; all else passes through.
pub(crate) struct Gathering {
    this: Weak<Self>,
    store: StoreHandle,
    claims: Arc<Lane<Claim, Verdict>>,
    ends: Arc<Lane<End, Ended>>,
    driver: Arc<Woken>,
}

impl Gathering {
    pub(super) fn new(store: StoreHandle, driver: Arc<Woken>, calls: usize) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            store,
            claims: Lane::new(calls),
            ends: Lane::new(calls),
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
        // First, so that who claims a record after its end finds it.
        self.ends.advance(cx, result_bytes, |ends| self.send(ends, Store::end_many, end_one));
        self.claims.advance(cx, |_| 0, |claims| self.send(claims, Store::claim_many, Store::claim));
    }

    /// Lets nothing more gather. What has gathered, or is under way, goes on in the background.
    pub(super) fn close(&self) {
        let was_open = self.claims.close() & self.ends.close();
        // Once: of two that look at one round trip only the last would be woken, and the other keep the store for ever.
        if was_open && !self.is_idle() {
            self.store.spawn(Box::pin(Drain(self.shared())));
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.claims.is_idle() && self.ends.is_idle()
    }

    fn shared(&self) -> Arc<Self> {
        self.this.upgrade().unwrap_or_else(|| unreachable!("it is borrowed from an `Arc`"))
    }

    /// The answer comes with those of others.
    fn owe<A>(&self, ticket: Ticket<A>) -> Reply<A> {
        self.driver.rouse();
        Reply::owed(ticket)
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

/// Bytes of what there is to record.
fn result_bytes(end: &End) -> usize {
    end.completion().map_or(0, |completion| completion.body.len())
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
        match self.claims.add(claim.clone()) {
            Some(ticket) => self.owe(ticket),
            None => self.store.claim(claim),
        }
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        self.store.claim_many(claims)
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.store.renew(renewal)
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        match self.ends.add(End::Complete(completion.clone())) {
            Some(ticket) => self.owe(ticket),
            None => self.store.complete(completion),
        }
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        match self.ends.add(End::Fail(completion.clone())) {
            Some(ticket) => self.owe(ticket),
            None => self.store.fail(completion),
        }
    }

    /// By itself, since it may come from a call that is no more: nobody would be there to hear the answer.
    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.store.release(id, token)
    }

    /// One end is a call's own, and goes with those of others.
    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        if let [end] = ends
            && let Some(ticket) = self.ends.add::<Ended>(end.clone())
        {
            return self.owe(ticket).map(|ended| vec![ended]);
        }
        self.store.end_many(ends)
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

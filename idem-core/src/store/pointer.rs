//! An `Arc` of a store is that store.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::{Classed, Reply, Store, StoreClass, StoreIdentity, class};
use crate::clock::Clock;
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, Verdict,
};
use crate::{RecordId, Timestamp, Token};

impl<S: Store + ?Sized> Store for Arc<S> {
    fn handle(&self) -> Arc<dyn Store> {
        (**self).handle()
    }

    fn class(&self) -> StoreClass {
        (**self).class()
    }

    fn clock(&self) -> Clock {
        (**self).clock()
    }

    fn identity(&self) -> StoreIdentity {
        (**self).identity()
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        (**self).claim(claim)
    }

    fn claim_at(&self, claim: &Claim, asked_at: &mut Timestamp) -> Reply<Verdict> {
        (**self).claim_at(claim, asked_at)
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        (**self).claim_many(claims)
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        (**self).renew(renewal)
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        (**self).complete(completion)
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        (**self).fail(completion)
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        (**self).release(id, token)
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        (**self).end_many(ends)
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        (**self).forget(id, force)
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        (**self).inspect(id)
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        (**self).sweep(limit)
    }

    fn dropped(&self, id: &RecordId, token: &Token) {
        (**self).dropped(id, token);
    }

    fn can_block(&self) -> bool {
        (**self).can_block()
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        (**self).spawn(task);
    }
}

impl<S: Classed> Classed for Arc<S> {
    type Class = S::Class;
}

impl Classed for Arc<dyn Store> {
    type Class = class::Unknown;
}

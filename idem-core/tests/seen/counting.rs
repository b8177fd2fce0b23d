//! A store that is nothing but the protocol, and counts what it is asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use idem_core::machine::{
    Answer, Change, Claim, Completion, Forgotten, Operation, Record, Recorded, Released, Renewal, Renewed,
    Snapshot, Verdict, decide,
};
use idem_core::{Classed, Clock, ManualClock, RecordId, Reply, Store, StoreClass, Token};

#[derive(Clone, Default)]
pub(crate) struct Counting(Arc<Inner>);

#[derive(Default)]
struct Inner {
    records: Mutex<HashMap<RecordId, Record>>,
    clock: ManualClock,
    claims: AtomicUsize,
}

impl Counting {
    pub(crate) fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    /// How many claims it was asked for.
    pub(crate) fn claims(&self) -> usize {
        self.0.claims.load(Ordering::Relaxed)
    }

    fn apply(&self, id: RecordId, operation: &Operation) -> Answer {
        let mut records = self.0.records.lock().unwrap();
        let (answer, change) = decide(records.get(&id), operation, self.0.clock.now());
        match change {
            Change::None => {}
            Change::Put(record) => {
                records.insert(id, record);
            }
            Change::Remove => {
                records.remove(&id);
            }
        }
        answer
    }

    fn judge(&self, claim: &Claim) -> Verdict {
        self.0.claims.fetch_add(1, Ordering::Relaxed);
        let Answer::Claim(verdict) = self.apply(claim.id, &Operation::Claim(claim.clone())) else {
            unreachable!()
        };
        verdict
    }
}

macro_rules! answer {
    ($kind:ident, $answer:expr) => {
        match $answer {
            Answer::$kind(answer) => Reply::ready(Ok(answer)),
            other => unreachable!("{other:?}"),
        }
    };
}

/// The same store, which answers only when it is listened to.
pub(crate) struct Slow {
    store: Counting,
    /// Whether it forgets only then, too. All else it does at once.
    forgets_late: bool,
}

impl Slow {
    pub(crate) fn new(store: Counting) -> Self {
        Self { store, forgets_late: false }
    }

    pub(crate) fn forgetting_late(store: Counting) -> Self {
        Self { store, forgets_late: true }
    }
}

fn later<T: Send + 'static>(reply: Reply<T>) -> Reply<T> {
    let answer = reply.wait();
    Reply::later(async move { answer })
}

impl Store for Slow {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(Self { store: self.store.clone(), forgets_late: self.forgets_late })
    }

    fn class(&self) -> StoreClass {
        self.store.class()
    }

    fn clock(&self) -> Clock {
        Store::clock(&self.store)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        later(self.store.claim(claim))
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        later(self.store.claim_many(claims))
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        later(self.store.renew(renewal))
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        later(self.store.complete(completion))
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        later(self.store.fail(completion))
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        later(self.store.release(id, token))
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        if self.forgets_late {
            let (store, id) = (self.store.clone(), *id);
            return Reply::later(async move { store.forget(&id, force).wait() });
        }
        later(self.store.forget(id, force))
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        later(self.store.inspect(id))
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        later(self.store.sweep(limit))
    }
}

impl Store for Counting {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    fn class(&self) -> StoreClass {
        StoreClass::Durable
    }

    fn clock(&self) -> Clock {
        self.0.clock.clone().into()
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        Reply::ready(Ok(self.judge(claim)))
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        Reply::ready(Ok(claims.iter().map(|claim| self.judge(claim)).collect()))
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        answer!(Renew, self.apply(renewal.id, &Operation::Renew(renewal.clone())))
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        answer!(Record, self.apply(completion.id, &Operation::Complete(completion.clone())))
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        answer!(Record, self.apply(completion.id, &Operation::Fail(completion.clone())))
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        answer!(Release, self.apply(*id, &Operation::Release(*token)))
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        answer!(Forget, self.apply(*id, &Operation::Forget { force }))
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        answer!(Inspect, self.apply(*id, &Operation::Inspect))
    }

    fn sweep(&self, _: usize) -> Reply<u64> {
        Reply::ready(Ok(0))
    }
}

impl Classed for Counting {
    type Class = idem_core::class::Durable;
}

//! The machine as a store, with faults on demand: answers that get lost before or after they are applied, or that wait.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use idem_core::machine::{
    Answer, Change, Claim, Completion, End, Ended, Forgotten, Operation, Record, Recorded, Released, Renewal,
    Renewed, Snapshot, StateKind, Verdict, decide,
};
use idem_core::{
    Clock, ManualClock, RecordId, Reply, Store, StoreClass, StoreError, StoreErrorKind, StoreIdentity,
    Timestamp, Token,
};

/// What happens to one operation.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Nothing: it is applied and answered at once.
    None,
    /// It never arrives; the caller is told "unavailable".
    LostBefore,
    /// It is applied; the caller is told "unavailable".
    LostAfter,
    /// It is applied at once, and answered when the gate opens.
    AnsweredLater(Gate),
    /// The clock is set back while it is under way; then it is applied, and answered at once.
    ClockSetBack(Duration),
    /// It fails for good.
    Broken(StoreErrorKind),
}

/// Something that opens once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    pub(crate) fn open(&self) {
        let mut gate = self.0.lock().unwrap();
        gate.0 = true;
        gate.1.drain(..).for_each(Waker::wake);
    }
}

impl Future for Gate {
    type Output = ();
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut gate = self.0.lock().unwrap();
        if gate.0 {
            return Poll::Ready(());
        }
        gate.1.push(cx.waker().clone());
        Poll::Pending
    }
}

#[derive(Clone)]
pub(crate) struct ModelStore(Arc<Model>);

struct Model {
    clock: ManualClock,
    class: StoreClass,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: HashMap<RecordId, Record>,
    /// What happens to the next operations of a name.
    faults: HashMap<&'static str, VecDeque<Fault>>,
    /// All operations that were applied, in order.
    log: Vec<&'static str>,
    spawned: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl ModelStore {
    pub(crate) fn new() -> Self {
        Self::of_class(StoreClass::Durable)
    }

    pub(crate) fn of_class(class: StoreClass) -> Self {
        Self(Arc::new(Model { clock: ManualClock::new(), class, state: Mutex::default() }))
    }

    pub(crate) fn time(&self) -> &ManualClock {
        &self.0.clock
    }

    /// Lines up a fault for the next operation named so.
    pub(crate) fn next(&self, operation: &'static str, fault: Fault) {
        self.0.state.lock().unwrap().faults.entry(operation).or_default().push_back(fault);
    }

    pub(crate) fn log(&self) -> Vec<&'static str> {
        self.0.state.lock().unwrap().log.clone()
    }

    pub(crate) fn count(&self, operation: &str) -> usize {
        self.log().iter().filter(|done| **done == operation).count()
    }

    /// The one record.
    pub(crate) fn record(&self) -> Record {
        let state = self.0.state.lock().unwrap();
        assert_eq!(state.records.len(), 1, "one record");
        state.records.values().next().unwrap().clone()
    }

    /// How many records are in this state.
    pub(crate) fn records(&self, kind: StateKind) -> usize {
        let state = self.0.state.lock().unwrap();
        state.records.values().filter(|record| record.state.kind() == kind).count()
    }

    pub(crate) fn change(&self, with: impl FnOnce(&mut Record)) {
        with(self.0.state.lock().unwrap().records.values_mut().next().unwrap());
    }

    pub(crate) fn change_all(&self, with: impl FnMut(&mut Record)) {
        self.0.state.lock().unwrap().records.values_mut().for_each(with);
    }

    pub(crate) fn clear(&self) {
        self.0.state.lock().unwrap().records.clear();
    }

    /// Polls what the driver left to the background, once each; returns how many are still pending.
    pub(crate) fn run_spawned(&self) -> usize {
        let tasks = std::mem::take(&mut self.0.state.lock().unwrap().spawned);
        let mut cx = Context::from_waker(Waker::noop());
        let pending: Vec<_> = tasks
            .into_iter()
            .filter_map(|mut task| task.as_mut().poll(&mut cx).is_pending().then_some(task))
            .collect();
        let mut state = self.0.state.lock().unwrap();
        state.spawned.extend(pending);
        state.spawned.len()
    }

    /// Polls what the driver left to the background, and lets time pass for what waits, until nothing is pending.
    pub(crate) fn finish_spawned(&self) {
        for _ in 0..100 {
            if self.run_spawned() == 0 {
                return;
            }
            self.time().advance(Duration::from_millis(20));
        }
        panic!("what was left to the background does not end");
    }

    fn apply(&self, id: &RecordId, name: &'static str, operation: &Operation) -> Answer {
        let mut state = self.0.state.lock().unwrap();
        state.log.push(name);
        let (answer, change) = decide(state.records.get(id), operation, self.0.clock.now());
        match change {
            Change::None => {}
            Change::Put(record) => drop(state.records.insert(*id, record)),
            Change::Remove => drop(state.records.remove(id)),
        }
        answer
    }

    fn operate<T: Send + 'static>(
        &self,
        id: &RecordId,
        name: &'static str,
        operation: &Operation,
        pick: impl FnOnce(Answer) -> T,
    ) -> Reply<T> {
        self.exposed(name, || pick(self.apply(id, name, operation)))
    }

    /// One round trip for all. It is logged under its own name, before what it is made of.
    fn together<Q, T: Send + 'static>(
        &self,
        trip: &'static str,
        asked: &[Q],
        one: impl Fn(&Self, &Q) -> T,
    ) -> Reply<Vec<T>> {
        self.exposed(trip, || {
            self.0.state.lock().unwrap().log.push(trip);
            asked.iter().map(|asked| one(self, asked)).collect()
        })
    }

    /// Does `apply`, or what the next fault of this name says.
    fn exposed<T: Send + 'static>(&self, name: &'static str, apply: impl FnOnce() -> T) -> Reply<T> {
        let fault = self.0.state.lock().unwrap().faults.get_mut(name).and_then(VecDeque::pop_front);
        let lost = || Err(StoreError::new(StoreErrorKind::Unavailable, "the model store did not answer"));
        match fault.unwrap_or(Fault::None) {
            Fault::None => Reply::ready(Ok(apply())),
            Fault::LostBefore => Reply::ready(lost()),
            Fault::LostAfter => {
                apply();
                Reply::ready(lost())
            }
            Fault::AnsweredLater(gate) => {
                let answer = apply();
                Reply::later(async move {
                    gate.await;
                    Ok(answer)
                })
            }
            Fault::ClockSetBack(by) => {
                let earlier = self.time().now().as_micros() - u64::try_from(by.as_micros()).unwrap();
                self.time().advance_to(Timestamp::from_micros(earlier));
                Reply::ready(Ok(apply()))
            }
            Fault::Broken(kind) => Reply::ready(Err(StoreError::new(kind, "the model store is broken"))),
        }
    }
}

macro_rules! pick {
    ($variant:ident) => {
        |answer| match answer {
            Answer::$variant(answer) => answer,
            other => panic!("another kind of answer: {other:?}"),
        }
    };
}

impl Store for ModelStore {
    fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }
    fn class(&self) -> StoreClass {
        self.0.class
    }
    fn clock(&self) -> Clock {
        self.0.clock.clone().into()
    }
    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(&*self.0)
    }
    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        self.operate(&claim.id, "claim", &Operation::Claim(claim.clone()), pick!(Claim))
    }
    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        self.together("claim_many", claims, |store, claim| {
            pick!(Claim)(store.apply(&claim.id, "claim", &Operation::Claim(claim.clone())))
        })
    }
    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.operate(&renewal.id, "renew", &Operation::Renew(renewal.clone()), pick!(Renew))
    }
    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        self.operate(&completion.id, "complete", &Operation::Complete(completion.clone()), pick!(Record))
    }
    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        self.operate(&completion.id, "fail", &Operation::Fail(completion.clone()), pick!(Record))
    }
    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.operate(id, "release", &Operation::Release(*token), pick!(Release))
    }
    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        self.together("end_many", ends, |store, end| {
            let name = match end {
                End::Complete(_) => "complete",
                End::Fail(_) => "fail",
                End::Release { .. } => "release",
            };
            let answer = store.apply(end.id(), name, &end.operation());
            Ended::of(answer).expect("the answer to an end")
        })
    }
    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        self.operate(id, "forget", &Operation::Forget { force }, pick!(Forget))
    }
    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        self.operate(id, "inspect", &Operation::Inspect, pick!(Inspect))
    }
    fn sweep(&self, _: usize) -> Reply<u64> {
        Reply::ready(Ok(0))
    }
    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.0.state.lock().unwrap().spawned.push(task);
    }
}

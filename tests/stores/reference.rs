//! The simplest store that is right: a map, one lock, and `decide`. With a fault it is wrong in exactly one way.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use idem::machine::{
    Answer, Change, Claim, Completion, End, Ended, Forgotten, Operation, Record, Recorded, Released, Renewal,
    Renewed, Snapshot, State, Verdict, decide,
};
use idem::{
    Body, Clock, RecordId, Reply, Store, StoreClass, StoreError, StoreErrorKind, StoreIdentity, Timestamp,
    Token,
};

use idem::conformance::{OnClock, Opening, Small};

/// One way to be wrong: each method is right as it stands here.
pub(crate) trait Fault: Send + Sync + 'static {
    /// What an operation answers and changes.
    fn judge(&self, found: Option<&Record>, operation: &Operation, now: Timestamp) -> (Answer, Change) {
        decide(found, operation, now)
    }

    /// Under which key a record is kept.
    fn key(&self, id: RecordId) -> RecordId {
        id
    }

    /// Whether the lock is held from the look to the write.
    fn is_atomic(&self) -> bool {
        true
    }

    /// The fence of a new grant, where `decide` says `fence` and the greatest before was `last`.
    fn fence(&self, fence: u64, last: u64) -> u64 {
        fence.max(last + 1)
    }

    /// What is kept of a body.
    fn body(&self, body: &Body) -> Body {
        body.clone()
    }

    /// Whether a sweep takes the record.
    fn sweeps(&self, record: &Record, now: Timestamp) -> bool {
        record.drop_at <= now
    }

    /// How many records a sweep takes.
    fn sweep_limit(&self, limit: usize) -> usize {
        limit
    }

    /// Whether the claims of a batch see what those before them were granted.
    fn batch_sees_itself(&self) -> bool {
        true
    }

    /// What is made of a batch of ends.
    fn batch_of(&self, ends: &[End]) -> Vec<End> {
        ends.to_vec()
    }

    /// Whether the ends of a batch are worked on as if the holders had sent them.
    fn batch_trusts_tokens(&self) -> bool {
        false
    }

    /// What a batch of ends is answered.
    fn batch_answers(&self, answers: Vec<Ended>) -> Vec<Ended> {
        answers
    }

    /// Whether a record is still there when the store is opened again.
    fn survives(&self, _: &Record) -> bool {
        true
    }

    /// By which instant a claim says that it was asked.
    fn asked_at(&self, now: Timestamp) -> Timestamp {
        now
    }

    /// Whether a full store makes room by removing a live claim.
    fn evicts(&self) -> bool {
        false
    }

    /// Whether a completion is written in one step.
    fn is_whole(&self) -> bool {
        true
    }

    /// Whether two that open one place see each other's records.
    fn shares_with_others(&self) -> bool {
        true
    }

    /// Whether a handle is this same store.
    fn shares_with_handles(&self) -> bool {
        true
    }

    /// Whether handles say that they are this same store.
    fn says_what_handles_share(&self) -> bool {
        true
    }
}

/// No fault.
pub(crate) struct Sound;

impl Fault for Sound {}

/// Where records are: shared by all that open it.
#[derive(Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Records>>);

#[derive(Clone, Default)]
struct Records {
    map: HashMap<RecordId, Record>,
    /// The greatest fence of all grants, so that fences grow across the deletion of any record.
    last_fence: u64,
}

#[derive(Clone)]
pub(crate) struct Reference {
    disk: Disk,
    clock: Clock,
    room: usize,
    fault: Arc<dyn Fault>,
}

impl Reference {
    pub(crate) fn new(fault: impl Fault) -> Self {
        Self { disk: Disk::default(), clock: Clock::monotonic(), room: usize::MAX, fault: Arc::new(fault) }
    }

    /// On a clock that a check can move.
    pub(crate) fn on_clock(fault: impl Fault) -> OnClock {
        OnClock::new(|clock| Self { clock: clock.into(), ..Self::new(fault) })
    }

    /// Opened anew as often as a check asks for it.
    pub(crate) fn opening(fault: impl Fault) -> Opening {
        let disk = Disk::default();
        let fault: Arc<dyn Fault> = Arc::new(fault);
        Opening::new(move || {
            disk.lock().map.retain(|_, record| fault.survives(record));
            let disk = if fault.shares_with_others() { disk.clone() } else { Disk::default() };
            Self { disk, clock: Clock::wall(), room: usize::MAX, fault: fault.clone() }
        })
    }

    /// With room for 50 records.
    pub(crate) fn small(fault: impl Fault) -> Small {
        Small::new(Self { room: 50, ..Self::new(fault) }, 51)
    }

    fn apply(&self, id: RecordId, operation: &Operation) -> Result<Answer, StoreError> {
        let records = self.disk.lock();
        let found = records.map.get(&self.fault.key(id)).cloned();
        if self.fault.is_atomic() {
            return self.write(records, id, found.as_ref(), operation);
        }
        drop(records);
        std::thread::yield_now();
        self.write(self.disk.lock(), id, found.as_ref(), operation)
    }

    fn write(
        &self,
        mut records: MutexGuard<'_, Records>,
        id: RecordId,
        found: Option<&Record>,
        operation: &Operation,
    ) -> Result<Answer, StoreError> {
        let now = self.clock.now();
        let id = self.fault.key(id);
        let (mut answer, change) = self.fault.judge(found, operation, now);
        match change {
            Change::None => {}
            Change::Remove => {
                records.map.remove(&id);
            }
            Change::Put(mut record) => {
                if !records.map.contains_key(&id) && records.map.len() >= self.room {
                    let held = records.map.keys().next().copied().filter(|_| self.fault.evicts());
                    let Some(held) = held else {
                        return Err(StoreError::new(StoreErrorKind::Full, "the reference store has no room"));
                    };
                    records.map.remove(&held);
                }
                if let Answer::Claim(Verdict::Claimed(grant)) = &mut answer
                    && !grant.resumed
                {
                    record.fence = self.fault.fence(record.fence, records.last_fence);
                    grant.fence = record.fence;
                    records.last_fence = records.last_fence.max(record.fence);
                }
                records.map.insert(id, record);
            }
        }
        Ok(answer)
    }

    fn ask<T>(&self, id: RecordId, operation: &Operation, read: fn(Answer) -> Option<T>) -> Reply<T> {
        Reply::ready(
            self.apply(id, operation).map(|answer| read(answer).expect("an answer of the same kind")),
        )
    }

    /// First that it is done, and then, at the next poll, with what.
    async fn complete_in_two_steps(self, completion: Completion) -> Result<Recorded, StoreError> {
        let id = completion.id;
        let hollow = Completion { body: Body::default(), ..completion.clone() };
        let answer = self.apply(id, &Operation::Complete(hollow))?;
        let mut polled = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        if let Some(Record { state: State::Done(kept), .. }) = self.disk.lock().map.get_mut(&id) {
            kept.body = completion.body;
        }
        match answer {
            Answer::Record(recorded) => Ok(recorded),
            other => unreachable!("a completion was answered with {other:?}"),
        }
    }

    fn kept(&self, completion: &Completion) -> Completion {
        Completion { body: self.fault.body(&completion.body), ..completion.clone() }
    }
}

impl Disk {
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Reference {
    fn handle(&self) -> Arc<dyn Store> {
        if self.fault.shares_with_handles() {
            return Arc::new(self.clone());
        }
        let copy = self.disk.lock().clone();
        Arc::new(Self { disk: Disk(Arc::new(Mutex::new(copy))), ..self.clone() })
    }

    fn class(&self) -> StoreClass {
        StoreClass::Durable
    }

    fn clock(&self) -> Clock {
        self.clock.clone()
    }

    fn identity(&self) -> StoreIdentity {
        if self.fault.says_what_handles_share() {
            return StoreIdentity::of(&*self.disk.0);
        }
        StoreIdentity::of(self)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        self.ask(claim.id, &Operation::Claim(claim.clone()), |answer| match answer {
            Answer::Claim(verdict) => Some(verdict),
            _ => None,
        })
    }

    fn claim_at(&self, claim: &Claim, asked_at: &mut Timestamp) -> Reply<Verdict> {
        *asked_at = self.fault.asked_at(self.clock.now());
        self.claim(claim)
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let before = self.disk.lock().map.clone();
        let one = |claim: &Claim| {
            let operation = Operation::Claim(claim.clone());
            let answer = if self.fault.batch_sees_itself() {
                self.apply(claim.id, &operation)?
            } else {
                self.write(self.disk.lock(), claim.id, before.get(&claim.id), &operation)?
            };
            match answer {
                Answer::Claim(verdict) => Ok(verdict),
                other => unreachable!("a claim was answered with {other:?}"),
            }
        };
        Reply::ready(claims.iter().map(one).collect())
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.ask(renewal.id, &Operation::Renew(renewal.clone()), |answer| match answer {
            Answer::Renew(renewed) => Some(renewed),
            _ => None,
        })
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        if !self.fault.is_whole() {
            return Reply::later(self.clone().complete_in_two_steps(completion.clone()));
        }
        self.ask(completion.id, &Operation::Complete(self.kept(completion)), |answer| match answer {
            Answer::Record(recorded) => Some(recorded),
            _ => None,
        })
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        self.ask(completion.id, &Operation::Fail(self.kept(completion)), |answer| match answer {
            Answer::Record(recorded) => Some(recorded),
            _ => None,
        })
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.ask(*id, &Operation::Release(*token), |answer| match answer {
            Answer::Release(released) => Some(released),
            _ => None,
        })
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        let mut batch = self.fault.batch_of(ends);
        if self.fault.batch_trusts_tokens() {
            let records = self.disk.lock();
            for end in &mut batch {
                let holder = records.map.get(&self.fault.key(*end.id())).map(|record| record.token);
                let (End::Complete(Completion { token, .. })
                | End::Fail(Completion { token, .. })
                | End::Release { token, .. }) = end;
                *token = holder.unwrap_or(*token);
            }
        }
        let one = |end: &End| match end {
            End::Complete(completion) => self.complete(completion).map(Ended::Recorded),
            End::Fail(completion) => self.fail(completion).map(Ended::Recorded),
            End::Release { id, token } => self.release(id, token).map(Ended::Released),
        };
        let fault = self.fault.clone();
        Reply::all(batch.iter().map(one).collect()).map(move |answers| fault.batch_answers(answers))
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        self.ask(*id, &Operation::Forget { force }, |answer| match answer {
            Answer::Forget(forgotten) => Some(forgotten),
            _ => None,
        })
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        self.ask(*id, &Operation::Inspect, |answer| match answer {
            Answer::Inspect(snapshot) => Some(snapshot),
            _ => None,
        })
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        let now = self.clock.now();
        let mut records = self.disk.lock();
        let ended = records.map.iter().filter(|(_, record)| self.fault.sweeps(record, now));
        let ended: Vec<_> = ended.map(|(id, _)| *id).take(self.fault.sweep_limit(limit)).collect();
        for id in &ended {
            records.map.remove(id);
        }
        Reply::ready(Ok(ended.len() as u64))
    }
}

idem::conformance_tests!(core, sound, Reference::new(Sound));
idem::conformance_tests!(keys, sound_keys, Reference::new(Sound));
idem::conformance_tests!(batch, sound_batch, Reference::new(Sound));
idem::conformance_tests!(clock, sound_on_a_clock, Reference::on_clock(Sound));
idem::conformance_tests!(durable, sound_reopened, Reference::opening(Sound));
idem::conformance_tests!(shared, sound_shared, Reference::opening(Sound));
idem::conformance_tests!(bounded, sound_and_small, Reference::small(Sound));

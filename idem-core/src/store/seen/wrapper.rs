//! The set as a store: answers what it knows, and listens to what the store behind it says.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::SeenSet;
use super::set::{Asked, Done, Set};
use super::shard::Found;
use crate::clock::Clock;
use crate::machine::{
    Claim, Completion, End, Ended, Forgotten, Recorded, Released, Renewal, Renewed, Snapshot, StateKind,
    Verdict,
};
use crate::store::{Reply, Store, StoreClass, StoreIdentity};
use crate::{Body, Fingerprint, RecordId, Token};

impl<S: Store> Store for SeenSet<S> {
    fn handle(&self) -> Arc<dyn Store> {
        let shared = || -> Arc<dyn Store> { Arc::new(SeenSet::over(self.inner.handle(), self.set.clone())) };
        self.shared.get_or_init(shared).clone()
    }

    fn class(&self) -> StoreClass {
        self.inner.class()
    }

    fn clock(&self) -> Clock {
        self.inner.clock()
    }

    fn identity(&self) -> StoreIdentity {
        StoreIdentity::of(&*self.set)
    }

    fn claim(&self, claim: &Claim) -> Reply<Verdict> {
        match Listener::look(&self.set, claim, self.set.ask()) {
            Ok(verdict) => Reply::ready(Ok(verdict)),
            Err(listener) => self.inner.claim(claim).map(move |verdict| listener.hear(verdict)),
        }
    }

    fn claim_many(&self, claims: &[Claim]) -> Reply<Vec<Verdict>> {
        let asked = self.set.ask();
        let mut listeners = Vec::new();
        let mut unknown = Vec::new();
        let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(claims.len());
        for (place, claim) in claims.iter().enumerate() {
            verdicts.push(match Listener::look(&self.set, claim, asked) {
                Ok(verdict) => Some(verdict),
                Err(listener) => {
                    listeners.push((place, listener));
                    unknown.push(claim.clone());
                    None
                }
            });
        }
        if unknown.is_empty() {
            return Reply::ready(Ok(verdicts.into_iter().flatten().collect()));
        }
        self.inner.claim_many(&unknown).map(move |answers| {
            for ((place, listener), verdict) in listeners.into_iter().zip(answers) {
                verdicts[place] = Some(listener.hear(verdict));
            }
            // Should the store owe an answer, the list ends there, and no verdict is taken for another claim's.
            verdicts.into_iter().map_while(|verdict| verdict).collect()
        })
    }

    fn renew(&self, renewal: &Renewal) -> Reply<Renewed> {
        self.inner.renew(renewal)
    }

    fn complete(&self, completion: &Completion) -> Reply<Recorded> {
        let learner = Learner::of(&self.set, completion, self.set.ask());
        let reply = self.inner.complete(completion);
        match learner {
            Some(learner) => reply.map(move |recorded| learner.hear(recorded)),
            None => reply,
        }
    }

    fn fail(&self, completion: &Completion) -> Reply<Recorded> {
        self.set.end(&completion.id, &completion.token);
        self.inner.fail(completion)
    }

    fn release(&self, id: &RecordId, token: &Token) -> Reply<Released> {
        self.set.end(id, token);
        self.inner.release(id, token)
    }

    fn end_many(&self, ends: &[End]) -> Reply<Vec<Ended>> {
        let asked = self.set.ask();
        let learner = |end: &End| match end {
            End::Complete(completion) => Learner::of(&self.set, completion, asked),
            End::Fail(Completion { id, token, .. }) | End::Release { id, token } => {
                self.set.end(id, token);
                None
            }
        };
        let learners: Vec<_> = ends.iter().map(learner).collect();
        let reply = self.inner.end_many(ends);
        if learners.iter().all(Option::is_none) {
            return reply;
        }
        reply.map(move |answers| {
            for (learner, ended) in learners.iter().zip(&answers) {
                if let (Some(learner), Ended::Recorded(recorded)) = (learner, ended) {
                    learner.hear(*recorded);
                }
            }
            answers
        })
    }

    fn forget(&self, id: &RecordId, force: bool) -> Reply<Forgotten> {
        let forgetting = Forgetting::begin(&self.set, *id);
        self.inner.forget(id, force).map(move |forgotten| {
            drop(forgetting);
            forgotten
        })
    }

    fn inspect(&self, id: &RecordId) -> Reply<Option<Snapshot>> {
        self.inner.inspect(id)
    }

    fn sweep(&self, limit: usize) -> Reply<u64> {
        self.inner.sweep(limit)
    }

    fn dropped(&self, id: &RecordId, token: &Token) {
        self.set.end(id, token);
        self.inner.dropped(id, token);
    }

    fn can_block(&self) -> bool {
        self.inner.can_block()
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.inner.spawn(task);
    }
}

/// Waits for the store's verdict on a claim that the set could not answer.
struct Listener {
    set: Arc<Set>,
    id: RecordId,
    token: Token,
    fingerprint: Option<Fingerprint>,
    asked: Asked,
    /// Whether the set holds the message with another payload.
    other: bool,
}

impl Listener {
    /// The set's verdict, or a listener for the store's.
    fn look(set: &Arc<Set>, claim: &Claim, asked: Asked) -> Result<Verdict, Self> {
        let other = match set.look(&claim.id, claim.fingerprint, asked) {
            Found::Seen { body, age, left } => {
                return Ok(Verdict::Completed { body, age, valid_for: left, skipped: true });
            }
            Found::Other => true,
            Found::Unknown => false,
        };
        let Claim { id, token, fingerprint, .. } = *claim;
        Err(Self { set: set.clone(), id, token, fingerprint, asked, other })
    }

    fn hear(&self, verdict: Verdict) -> Verdict {
        match &verdict {
            Verdict::Completed { body, age, valid_for, .. } => {
                let done = Done {
                    fingerprint: self.fingerprint,
                    body: body.as_ref(),
                    age: *age,
                    valid_for: *valid_for,
                };
                self.set.learn(&self.id, &done, self.asked);
            }
            Verdict::Claimed(_) => self.set.begin(&self.id, self.token, self.fingerprint, self.asked),
            Verdict::Mismatch { state: StateKind::Done } => {}
            // The record that the set spoke for is another by now.
            _ if self.other => self.set.remove(&self.id),
            _ => {}
        }
        verdict
    }
}

/// Waits for the store's word on a success that this process sends for the first time.
struct Learner {
    set: Arc<Set>,
    id: RecordId,
    token: Token,
    fingerprint: Option<Fingerprint>,
    body: Body,
    valid_for: Duration,
    asked: Asked,
}

impl Learner {
    fn of(set: &Arc<Set>, completion: &Completion, asked: Asked) -> Option<Self> {
        let Completion { id, token, fingerprint, ttl, keep, .. } = *completion;
        set.complete(&id, &token, fingerprint).then(|| Self {
            set: set.clone(),
            id,
            token,
            fingerprint,
            body: completion.body.clone(),
            // Without its result, an entry can speak for the tombstone too.
            valid_for: if set.keeps_results() { ttl } else { keep.max(ttl) },
            asked,
        })
    }

    fn hear(&self, recorded: Recorded) -> Recorded {
        // Gone is the answer of `KeyOnly`, whose only memory this is.
        if matches!(recorded, Recorded::Stored | Recorded::Recreated | Recorded::Gone) {
            let Self { fingerprint, valid_for, .. } = *self;
            let done = Done { fingerprint, body: Some(&self.body), age: Duration::ZERO, valid_for };
            self.set.learn(&self.id, &done, self.asked);
        } else {
            self.set.end(&self.id, &self.token);
        }
        recorded
    }
}

/// Forgets at its beginning and at its end, so that neither an answer under way nor a dropped reply keeps a message alive.
struct Forgetting {
    set: Arc<Set>,
    id: RecordId,
}

impl Forgetting {
    fn begin(set: &Arc<Set>, id: RecordId) -> Self {
        set.forget(&id);
        Self { set: set.clone(), id }
    }
}

impl Drop for Forgetting {
    fn drop(&mut self) {
        self.set.forget(&self.id);
    }
}

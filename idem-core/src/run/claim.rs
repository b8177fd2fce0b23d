//! Before the body: from a call to the word "run", a replay, or an error.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::answer::Replay;
use crate::call::{Call, Ready};
use crate::machine::{Claim, Completion, Grant, Prior, Snapshot, StateKind, Verdict};
use crate::observe::{Event, count};
use crate::run::patience::Patience;
use crate::store::{Looked, Reply, StoreHandle};
use crate::{Body, Error, ErrorKind, Mode, OnDuplicate, StoreError, Timestamp};

/// What is to be done for a call.
#[derive(Debug)]
pub(crate) enum Step<'c> {
    /// Run the body.
    Run(Hold<'c>),
    /// Hand back a stored success.
    Replay { body: Option<Body>, replay: Replay },
    /// Hand back a stored error.
    Refused { body: Option<Body> },
    /// Hand back an error of our own.
    Stop(Error),
}

/// A claim that was granted.
#[derive(Debug)]
pub(crate) struct Hold<'c> {
    pub(crate) ready: Ready<'c>,
    pub(crate) grant: Grant,
    /// When it was asked for, on the store's clock: the lease counts from there.
    pub(crate) asked_at: Timestamp,
}

impl Hold<'_> {
    /// The record of a success, without its result.
    #[inline]
    pub(crate) fn completion(&self) -> Completion {
        let call = self.ready.call;
        Completion {
            id: self.ready.id(),
            token: call.token,
            fence: self.grant.fence,
            fingerprint: call.fingerprint,
            body: Body::default(),
            ttl: call.handler.ttl,
            keep: call.handler.keep,
        }
    }
}

/// A step that will be known.
pub(crate) type Asking<'c> = Pin<Box<dyn Future<Output = Step<'c>> + Send + 'c>>;

/// What a store said at once. The everyday answers are looked at where the reply holds them; that costs neither an allocation
/// nor a turn of the executor, and no copy of a stored result.
pub(crate) enum Told<'r> {
    /// Hand back a stored success.
    Done(Option<&'r Body>, Replay),
    /// Run the body.
    Granted(Grant),
    /// See [`otherwise`].
    Else,
}

impl<'r> Told<'r> {
    #[inline]
    pub(crate) fn by(reply: &'r Reply<Verdict>) -> Self {
        match reply.peek() {
            Some(Ok(Verdict::Completed { body, age, skipped, .. })) => {
                Self::Done(body.as_ref(), Replay { age: *age, skipped: *skipped })
            }
            Some(Ok(Verdict::Claimed(grant))) => {
                count_grant(grant);
                Self::Granted(*grant)
            }
            _ => Self::Else,
        }
    }
}

/// What a call comes to that has been told something else: a step at once, or one that will be known.
#[cold]
pub(crate) fn otherwise<'c>(
    ready: Ready<'c>,
    asked_at: Timestamp,
    reply: Reply<Verdict>,
) -> Result<Step<'c>, Asking<'c>> {
    let reply = match reply.look() {
        Looked::There(Ok(verdict)) if !waits(ready.call, &verdict) => {
            return Ok(judge(ready, verdict, asked_at));
        }
        Looked::There(answer) => Reply::ready(answer),
        Looked::Pending(reply) => reply,
    };
    Err(Box::pin(ask(ready, Some((asked_at, reply)))))
}

/// Asks for a handler whose former scopes have to be looked at first.
#[cold]
pub(crate) fn look_back_first(ready: Ready<'_>) -> Asking<'_> {
    Box::pin(ask(ready, None))
}

/// Whether the handler waits for the other attempt.
fn waits(call: &Call<'_>, verdict: &Verdict) -> bool {
    matches!((verdict, call.handler.on_duplicate), (Verdict::InProgress { .. }, OnDuplicate::Wait(_)))
}

/// Asks until there is an answer, and, if the handler waits for duplicates, until there is another one than "in progress".
/// A record of a former scope answers for the new one; only if there is none, or one that may be rerun, the new one is
/// claimed.
async fn ask<'c>(ready: Ready<'c>, mut sent: Option<(Timestamp, Reply<Verdict>)>) -> Step<'c> {
    let clock = ready.store.clock();
    let claim = ready.claim();
    let mut asking = UnderWay { reply: None, unknown: false, store: ready.store.to_handle(), claim };
    let mut before = None;
    let mut patience = Patience::begin(&clock);
    let mut failures = 0;
    let mut pause = FIRST_PAUSE;
    loop {
        let (answer, asked_at) = match sent.take() {
            Some((asked_at, reply)) => (asking.hear(reply).await, asked_at),
            None => match look_back(&ready, &asking.claim, &mut before).await {
                Ok(None) => {
                    let mut asked_at = Timestamp::ZERO;
                    let reply = ready.store.claim_at(&asking.claim, &mut asked_at);
                    (asking.hear(reply).await, asked_at)
                }
                Ok(Some(verdict)) => (Ok(verdict), clock.now()),
                Err(error) => (Err(error), clock.now()),
            },
        };
        let delay = match answer {
            Ok(verdict @ Verdict::InProgress { remaining, .. }) => {
                let OnDuplicate::Wait(limit) = ready.call.handler.on_duplicate else {
                    return judge(ready, verdict, asked_at);
                };
                let left = limit.saturating_sub(patience.spent());
                if left.is_zero() {
                    return judge(ready, verdict, asked_at);
                }
                let delay = pause.min(left).min(remaining.max(FIRST_PAUSE));
                pause = (pause * 2).min(LONGEST_PAUSE);
                failures = 0;
                delay
            }
            Ok(Verdict::Claimed(_))
                if failures < RETRIES && asked_at.after(asking.claim.lease) <= clock.now() =>
            {
                // The answer was a lease's time under way, and another attempt may own the message by now. If none does, the
                // same claim is granted again, with a whole lease.
                failures += 1;
                asking.unknown = true;
                continue;
            }
            Ok(Verdict::Claimed(grant)) => {
                let grant = before.map_or(grant, |before: Before| before.told_by(grant));
                return judge(ready, Verdict::Claimed(grant), asked_at);
            }
            Ok(verdict) => return judge(ready, verdict, asked_at),
            Err(error) if error.is_transient() && failures < RETRIES => {
                // Unknown is not "no": the same token asks again, and gets the grant that it may have got already.
                failures += 1;
                FIRST_PAUSE * failures * failures
            }
            Err(error) => {
                count(Event::Unavailable);
                let error = ready.call.name(error.into());
                return Step::Stop(error);
            }
        };
        patience.sleep(delay).await;
    }
}

/// How often an unanswered claim is sent again before the delivery goes back to the queue.
const RETRIES: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// What a former scope's record tells of the attempts before this one.
#[derive(Clone, Copy)]
struct Before {
    prior: Prior,
    first_age: Duration,
}

impl Before {
    /// The new scope's record knows nothing of them when it is made.
    fn told_by(self, grant: Grant) -> Grant {
        match grant.prior {
            Prior::None => Grant { prior: self.prior, first_age: self.first_age, ..grant },
            Prior::Released | Prior::Lapsed => grant,
        }
    }
}

/// Looks for a verdict in the records of the handler's former scopes.
async fn look_back(
    ready: &Ready<'_>,
    claim: &Claim,
    before: &mut Option<Before>,
) -> Result<Option<Verdict>, StoreError> {
    for id in ready.former() {
        let Some(found) = ready.store.inspect(id).await? else { continue };
        let prior = if found.state == StateKind::Held { Prior::Lapsed } else { Prior::Released };
        *before = Some(Before { prior, first_age: found.first_age });
        if let Some(verdict) = verdict_of(found, claim) {
            return Ok(Some(verdict));
        }
    }
    Ok(None)
}

/// What a claim would have been told by a record that is only looked at; `None` if it may run.
fn verdict_of(found: Snapshot, claim: &Claim) -> Option<Verdict> {
    let (tries, first_age) = (found.tries, found.first_age);
    if found.state != StateKind::Open && found.fingerprint != claim.fingerprint {
        return Some(Verdict::Mismatch { state: found.state });
    }
    let age = found.done_age.unwrap_or_default();
    match found.state {
        // A look does not say when the bytes go.
        StateKind::Done => {
            Some(Verdict::Completed { body: found.body, age, valid_for: Duration::ZERO, skipped: false })
        }
        StateKind::Failed => Some(Verdict::Refused { body: found.body, age }),
        StateKind::Held if found.lease.is_some_and(|left| !left.is_zero()) => {
            Some(Verdict::InProgress { remaining: found.lease.unwrap_or_default(), tries })
        }
        _ if tries >= claim.max_tries => Some(Verdict::Spent { tries, first_age }),
        StateKind::Held if claim.on_lapse == crate::OnLapse::Park => {
            Some(Verdict::Lapsed { tries, first_age })
        }
        StateKind::Held | StateKind::Open => None,
    }
}

/// A takeover is worth knowing of: its predecessor's effects may have happened.
fn count_grant(grant: &Grant) {
    if grant.prior == Prior::Lapsed {
        count(Event::Lapsed);
    }
}

/// Turns a verdict into a step, and counts it.
fn judge<'c>(ready: Ready<'c>, verdict: Verdict, asked_at: Timestamp) -> Step<'c> {
    match verdict {
        Verdict::Claimed(grant) => {
            count_grant(&grant);
            Step::Run(Hold { ready, grant, asked_at })
        }
        verdict => stop(ready.call, verdict),
    }
}

/// Turns a verdict that lets no body run into a step, and counts it.
pub(super) fn stop<'c>(call: &Call<'_>, verdict: Verdict) -> Step<'c> {
    let stop = |event, error: Error| {
        count(event);
        Step::Stop(call.name(error))
    };
    match verdict {
        Verdict::Claimed(_) => unreachable!("a grant lets the body run"),
        Verdict::Completed { body, age, skipped, .. } => {
            Step::Replay { body, replay: Replay { age, skipped } }
        }
        Verdict::Refused { body, .. } => {
            count(Event::Refused);
            Step::Refused { body }
        }
        Verdict::InProgress { remaining, tries } => {
            let message = format!("attempt {tries} has this message for another {remaining:.1?}");
            // A lease about to end is not worth a busy loop.
            let wait = remaining.max(Duration::from_millis(100));
            stop(Event::InProgress, Error::new(ErrorKind::InProgress, message).retry_in(wait))
        }
        Verdict::Mismatch { state } => {
            let message = format!("the key is known with another payload (its record is {state:?})");
            stop(Event::Mismatch, Error::new(ErrorKind::Mismatch, message))
        }
        Verdict::Lapsed { tries, first_age } if call.handler.mode == Mode::AtMostOnce => {
            let message = format!(
                "at most once: attempt {tries} of {first_age:.0?} ago recorded no success, and is not repeated; \
                 its effect may be lost"
            );
            stop(Event::Lost, Error::new(ErrorKind::Lost, message))
        }
        Verdict::Lapsed { tries, first_age } => {
            let message = format!(
                "attempt {tries} of {first_age:.0?} ago recorded no success; its effect may have happened, and \
                 this handler parks such messages"
            );
            stop(Event::Lapsed, Error::new(ErrorKind::Lapsed, message))
        }
        Verdict::Spent { tries, first_age } => {
            let message = format!(
                "attempt {tries} was the last that this handler allows (`max_tries`); the first began {first_age:.0?} ago"
            );
            stop(Event::Spent, Error::new(ErrorKind::Spent, message))
        }
    }
}

/// A claim under way. If it is dropped before its answer is known, its grant, should there be one, goes back: no body will run
/// under it.
struct UnderWay {
    reply: Option<Reply<Verdict>>,
    /// Whether a claim was sent whose answer got lost: it may have been granted.
    unknown: bool,
    store: StoreHandle,
    claim: Claim,
}

impl UnderWay {
    async fn hear(&mut self, reply: Reply<Verdict>) -> Result<Verdict, StoreError> {
        // Kept here, and not in the future, so that it outlives the caller.
        let reply = self.reply.insert(reply);
        let answer = reply.await;
        self.reply = None;
        match &answer {
            Ok(_) => self.unknown = false,
            Err(error) => self.unknown |= error.is_transient(),
        }
        answer
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let reply = self.reply.take();
        if reply.is_none() && !self.unknown {
            return;
        }
        let (store, id, token) = (self.store.clone(), self.claim.id, self.claim.token);
        self.store.spawn(Box::pin(async move {
            let held = match reply {
                Some(reply) => matches!(reply.await, Ok(Verdict::Claimed(_)) | Err(_)),
                None => true,
            };
            if held {
                // If this does not arrive, the lease runs out.
                let _ = store.release(&id, &token).await;
            }
        }));
    }
}

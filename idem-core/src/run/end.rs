//! After the body: from its result to the record.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::Timestamp;
use crate::answer::Codec;
use crate::call::Ready;
use crate::lease::{Lease, Renewals};
use crate::machine::{Completion, Grant, Recorded};
use crate::observe::{Event, count};
use crate::run::ReleaseOnPanic;
use crate::run::patience::Patience;
use crate::store::{Looked, Reply, StoreHandle};

/// An end that is recorded, or will be: whether the store knows of the success.
pub(crate) enum Ended {
    Now(bool),
    /// Owns all it needs, so that it can go on without the caller.
    Later(Pin<Box<dyn Future<Output = bool> + Send>>),
}

/// Tells the store how the body ended.
///
/// Bookkeeping never turns a success into a rerun: whatever happens here, the body's result stands.
pub(crate) fn end<R>(
    ready: &Ready<'_>,
    codec: &Codec<R>,
    (grant, asked_at): (&Grant, Timestamp),
    result: &R,
    renewals: Option<Renewals>,
    on_panic: ReleaseOnPanic<'_, '_>,
) -> Ended {
    let handler = ready.call.handler;
    let success = (codec.encode)(result);
    let error = match (&success, &codec.errors) {
        (None, Some(errors)) => (errors.encode)(result),
        _ => None,
    };
    // The handler's own code has had its last word.
    on_panic.not_needed();
    if let Some(encoded) = success {
        count(Event::Executed);
        if !encoded.kept {
            count(Event::NotKept);
        }
        let completion = ready.completion(grant.fence, encoded.body, handler.ttl, handler.keep);
        return record(ready, Ending::Success, completion, asked_at, renewals);
    }
    if let Some(encoded) = error {
        let completion = ready.completion(grant.fence, encoded.body, handler.error_ttl, handler.error_ttl);
        return record(ready, Ending::Error, completion, asked_at, renewals);
    }
    release(ready, renewals)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Success,
    Error,
}

impl Ending {
    fn send(self, store: &StoreHandle, completion: &Completion) -> Reply<Recorded> {
        match self {
            Self::Success => store.complete(completion),
            Self::Error => store.fail(completion),
        }
    }
}

fn record(
    ready: &Ready<'_>,
    ending: Ending,
    completion: Completion,
    asked_at: Timestamp,
    renewals: Option<Renewals>,
) -> Ended {
    let reply = match ending.send(&ready.store, &completion).look() {
        Looked::There(Ok(recorded)) => return Ended::Now(note(recorded)),
        Looked::There(Err(error)) => Reply::ready(Err(error)),
        Looked::Pending(reply) => reply,
    };
    let lease = (ready.call.handler.lease, ready.call.leased_until(asked_at));
    Ended::Later(Box::pin(insist(ready.store.clone(), ending, completion, reply, lease, renewals)))
}

/// Sends a completion again until the store answers or a lease's time has passed.
async fn insist(
    store: StoreHandle,
    ending: Ending,
    completion: Completion,
    mut reply: Reply<Recorded>,
    (patience, leased_until): (Duration, Timestamp),
    mut renewals: Option<Renewals>,
) -> bool {
    let clock = store.clock();
    let mut spent = Patience::begin(&clock);
    let mut pause = Duration::from_millis(20);
    let recorded = loop {
        match reply.await {
            Ok(recorded) => break note(recorded),
            Err(error) if error.is_transient() && spent.spent() < patience => {
                // A body that ended at its first poll has none so far, and may have used up its lease.
                renewals.get_or_insert_with(|| {
                    let lease = Lease::new(clock.clone(), leased_until);
                    Renewals::start(&store, (completion.id, completion.token), (patience, patience), lease)
                });
                spent.sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
                reply = ending.send(&store, &completion);
            }
            Err(_) => {
                if ending == Ending::Success {
                    count(Event::Unrecorded);
                }
                break false;
            }
        }
    };
    drop(renewals);
    recorded
}

fn note(recorded: Recorded) -> bool {
    match recorded {
        Recorded::Stored => true,
        Recorded::Recreated => {
            count(Event::Recreated);
            true
        }
        Recorded::Superseded { .. } => {
            count(Event::Superseded);
            false
        }
        // Nothing is kept here: no store, or an error whose record is gone.
        Recorded::Gone => false,
    }
}

/// Gives the claim back after an error or a panic, where the handler's rules let it.
pub(crate) fn release(ready: &Ready<'_>, renewals: Option<Renewals>) -> Ended {
    // What must not run twice is not given back on the word of an error: it may have come after the effect.
    if !ready.call.releases() {
        return Ended::Now(false);
    }
    count(Event::Released);
    match ready.store.release(&ready.id(), &ready.call.token).look() {
        // If it did not arrive, the lease runs out.
        Looked::There(_) => Ended::Now(false),
        Looked::Pending(reply) => Ended::Later(Box::pin(async move {
            let _ = reply.await;
            drop(renewals);
            false
        })),
    }
}

//! After the body: from its result to the record.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::Timestamp;
use crate::answer::Codec;
use crate::call::Ready;
use crate::codec::Encoding;
use crate::lease::{Lease, Renewals};
use crate::machine::{Completion, End, Recorded};
use crate::observe::{Event, count};
use crate::run::ReleaseOnPanic;
use crate::run::claim::Hold;
use crate::run::patience::Patience;
use crate::store::{Looked, Reply, Store, StoreHandle};

/// An end that is recorded, or will be: whether the store knows of the success.
pub(crate) enum Ended {
    Now(bool),
    Later(Rest),
}

/// What is left to do, which ends with whether the store knows of the success. Owns all it needs, so that it can go on without
/// the caller.
pub(crate) type Rest = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Tells the store how the body ended.
///
/// Bookkeeping never turns a success into a rerun: whatever happens here, the body's result stands.
pub(crate) fn end<R>(
    hold: &Hold<'_>,
    codec: &Codec<R>,
    result: &R,
    renewals: Option<Renewals>,
    on_panic: ReleaseOnPanic<'_, '_>,
) -> Ended {
    // Made before there is anything to say, so that the result is written where the store reads it.
    let mut completion = hold.completion();
    let mut encoding = Encoding::begin(&mut completion.body);
    let ending = if (codec.encode)(result, &mut encoding) {
        Some(Ending::Success { kept: encoding.is_kept() })
    } else {
        let errors = codec.errors.as_ref();
        errors.is_some_and(|errors| (errors.encode)(result, &mut encoding)).then_some(Ending::Error)
    };
    // The handler's own code has had its last word.
    on_panic.not_needed();
    match ending {
        Some(ending) => record(hold, ending, &mut completion, renewals),
        None => give_back(&hold.ready, renewals),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Success { kept: bool },
    Error,
}

impl Ending {
    fn send(self, store: &dyn Store, completion: &Completion) -> Reply<Recorded> {
        match self {
            Self::Success { .. } => store.complete(completion),
            Self::Error => store.fail(completion),
        }
    }
}

fn record(hold: &Hold<'_>, ending: Ending, completion: &mut Completion, renewals: Option<Renewals>) -> Ended {
    let ready = &hold.ready;
    let handler = ready.call.handler;
    match ending {
        Ending::Success { kept } => {
            count(Event::Executed);
            if !kept {
                count(Event::NotKept);
            }
        }
        Ending::Error => (completion.ttl, completion.keep) = (handler.error_ttl, handler.error_ttl),
    }
    let reply = ending.send(&*ready.store, completion);
    if let Some(Ok(recorded)) = reply.peek() {
        return Ended::Now(note(recorded));
    }
    let lease = (handler.lease, ready.call.leased_until(hold.asked_at));
    let completion = completion.clone();
    Ended::Later(Box::pin(insist(ready.store.to_handle(), ending, completion, reply, lease, renewals)))
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
            Ok(recorded) => break note(&recorded),
            Err(error) if error.is_transient() && spent.spent() < patience => {
                // A body that ended at its first poll may have none so far, and may have used up its lease.
                renewals.get_or_insert_with(|| {
                    let lease = Lease::new(clock.clone(), leased_until);
                    Renewals::start(
                        store.clone(),
                        (completion.id, completion.token),
                        (patience, patience),
                        lease,
                    )
                });
                spent.sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
                reply = ending.send(&*store, &completion);
            }
            Err(_) => {
                if ending != Ending::Error {
                    count(Event::Unrecorded);
                }
                break false;
            }
        }
    };
    drop(renewals);
    recorded
}

fn note(recorded: &Recorded) -> bool {
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

/// Gives the claim back after an error, in a batch together with what other bodies came to.
fn give_back(ready: &Ready<'_>, renewals: Option<Renewals>) -> Ended {
    if ready.seat.is_none() {
        return release(ready, renewals);
    }
    released(ready, renewals, |store| {
        store.end_many(&[End::Release { id: ready.id(), token: ready.call.token }])
    })
}

/// Gives the claim back after a panic, where the handler's rules let it.
pub(crate) fn release(ready: &Ready<'_>, renewals: Option<Renewals>) -> Ended {
    released(ready, renewals, |store| store.release(&ready.id(), &ready.call.token))
}

fn released<T: Send + 'static>(
    ready: &Ready<'_>,
    renewals: Option<Renewals>,
    send: impl FnOnce(&dyn Store) -> Reply<T>,
) -> Ended {
    // What must not run twice is not given back on the word of an error: it may have come after the effect.
    if !ready.call.releases() {
        return Ended::Now(false);
    }
    count(Event::Released);
    match send(&*ready.store).look() {
        // If it did not arrive, the lease runs out.
        Looked::There(_) => Ended::Now(false),
        Looked::Pending(reply) => Ended::Later(Box::pin(async move {
            let _ = reply.await;
            drop(renewals);
            false
        })),
    }
}

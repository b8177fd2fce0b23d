//! The driver: a future under a claim.
//!
//! One named future, polled in place. It claims, runs the body, renews the lease while the body waits, and records how it
//! ended. Dropped at any await, it leaves this behind:
//!
//! | dropped | left behind |
//! | --- | --- |
//! | before the first poll | nothing: no key was derived, no store asked |
//! | while the claim is under way | the claim is not granted, or is given back in the background |
//! | in a batch, before the body's turn | the claim is given back |
//! | while the body runs | the claim, until its lease ends: the body's children may still be at work |
//! | after the body, while its end is recorded | the record: the rest goes on in the background |

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use crate::answer::Codec;
use crate::batch::{self, Seat};
use crate::call::{Call, Ready};
use crate::lease::Renewals;
use crate::machine::Grant;
use crate::store::{Looked, StoreHandle};
use crate::{Error, ErrorKind, Timestamp};

mod blocking;
mod claim;
mod end;
mod inbox;
mod patience;
mod replay;

pub use blocking::{Running, Started, run_blocking, start_blocking};
use claim::{Begun, Step, begin};
use end::{Ended, end, release};
pub use inbox::{Entering, Inside, enter, enter_blocking};
use replay::answer;

pin_project! {
    /// The future of an idempotent handler; see [`run`].
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Run<'c, B: Future> {
        call: &'c Call<'c>,
        codec: Codec<B::Output>,
        stage: Stage<'c, B::Output>,
        #[pin]
        body: B,
    }

    impl<'c, B: Future> PinnedDrop for Run<'c, B> {
        fn drop(this: Pin<&mut Self>) {
            match std::mem::replace(this.project().stage, Stage::Over) {
                Stage::Running { ready, .. } => ready.store.dropped(&ready.id(), &ready.call.token),
                Stage::Queued { ready, .. } => give_back(ready),
                Stage::Ending { rest, store, seat, .. } => store.spawn(Box::pin(async move {
                    rest.await;
                    drop(seat);
                })),
                Stage::Start | Stage::Seated(_) | Stage::Claiming(_) | Stage::Over => {}
            }
        }
    }
}

enum Stage<'c, R> {
    Start,
    /// In a batch, while an earlier call about the same record goes on.
    Seated(Ready<'c>),
    Claiming(Pin<Box<dyn Future<Output = Step<'c>> + Send + 'c>>),
    /// In a batch, granted, until its turn.
    Queued {
        ready: Ready<'c>,
        grant: Grant,
        asked_at: Timestamp,
        renewals: Renewals,
    },
    Running {
        ready: Ready<'c>,
        grant: Grant,
        asked_at: Timestamp,
        renewals: Option<Renewals>,
    },
    Ending {
        rest: Pin<Box<dyn Future<Output = bool> + Send>>,
        store: StoreHandle,
        seat: Option<Arc<Seat>>,
        result: R,
    },
    Over,
}

/// Runs `body` under the claim that `call` asks for, or hands back what a former run came to.
pub fn run<'c, B: Future>(call: &'c Call<'c>, codec: Codec<B::Output>, body: B) -> Run<'c, B> {
    Run { call, codec, stage: Stage::Start, body }
}

impl<B: Future> Future for Run<'_, B> {
    type Output = B::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let this = self.project();
        let (call, codec, stage) = (*this.call, this.codec, this.stage);
        let mut body = this.body;
        loop {
            // Taken out while at work: if anything panics, the future is over and its drop does nothing more.
            match std::mem::replace(stage, Stage::Over) {
                Stage::Start => match call.ready().map(batch::join) {
                    Ok(ready) if ready.seat.is_some() => *stage = Stage::Seated(ready),
                    Ok(ready) => match claim(ready, codec, cx) {
                        Ok(next) => *stage = next,
                        Err(result) => return Poll::Ready(result),
                    },
                    Err(error) => return Poll::Ready((codec.refuse)(call.name(error))),
                },
                Stage::Seated(ready) => {
                    if ready.seat.as_ref().is_some_and(|seat| seat.poll_first(cx).is_pending()) {
                        *stage = Stage::Seated(ready);
                        return Poll::Pending;
                    }
                    match claim(ready, codec, cx) {
                        Ok(next) => *stage = next,
                        Err(result) => return Poll::Ready(result),
                    }
                }
                Stage::Claiming(mut asking) => match asking.as_mut().poll(cx) {
                    Poll::Ready(Step::Run(ready, grant, asked_at)) => {
                        *stage = granted(ready, grant, asked_at, cx);
                    }
                    Poll::Ready(step) => return Poll::Ready(answer(call, codec, step)),
                    Poll::Pending => {
                        *stage = Stage::Claiming(asking);
                        return Poll::Pending;
                    }
                },
                Stage::Queued { ready, grant, asked_at, renewals } => {
                    if ready.seat.as_ref().is_some_and(|seat| seat.poll_turn(cx).is_pending()) {
                        *stage = Stage::Queued { ready, grant, asked_at, renewals };
                        return Poll::Pending;
                    }
                    if call.granted(ready.store.clock(), grant, asked_at).is_lost() {
                        let error = call.name(lost_in_queue());
                        give_back(ready);
                        return Poll::Ready((codec.refuse)(error));
                    }
                    // The time for which a body may hold begins with it.
                    *stage = Stage::Running { ready, grant, asked_at, renewals: None };
                }
                Stage::Running { ready, grant, asked_at, renewals } => {
                    let release = ReleaseOnPanic(Some(&ready));
                    let outside = batch::leave();
                    let polled = body.as_mut().poll(cx);
                    drop(outside);
                    let Poll::Ready(mut result) = polled else {
                        release.not_needed();
                        // A body that ends at its first poll never gets here, and costs no renewal.
                        let renewals = renewals.or_else(|| Some(start_renewals(&ready, grant, asked_at)));
                        *stage = Stage::Running { ready, grant, asked_at, renewals };
                        return Poll::Pending;
                    };
                    if let Some(seat) = &ready.seat {
                        seat.end_turn();
                    }
                    match end(&ready, codec, (&grant, asked_at), &result, renewals, release) {
                        Ended::Now(recorded) => {
                            (codec.set_recorded)(&mut result, recorded);
                            return Poll::Ready(result);
                        }
                        Ended::Later(rest) => {
                            *stage = Stage::Ending { rest, store: ready.store, seat: ready.seat, result };
                        }
                    }
                }
                Stage::Ending { mut rest, store, seat, mut result } => match rest.as_mut().poll(cx) {
                    Poll::Ready(recorded) => {
                        (codec.set_recorded)(&mut result, recorded);
                        return Poll::Ready(result);
                    }
                    Poll::Pending => {
                        *stage = Stage::Ending { rest, store, seat, result };
                        return Poll::Pending;
                    }
                },
                Stage::Over => panic!("an idempotent handler's future was polled after it had ended"),
            }
        }
    }
}

/// Asks the store; what it answers in place is the next stage, or the result.
#[inline]
fn claim<'c, R>(ready: Ready<'c>, codec: &Codec<R>, cx: &mut Context<'_>) -> Result<Stage<'c, R>, R> {
    match begin(ready, codec) {
        Begun::Run(ready, grant, asked_at) => Ok(granted(ready, grant, asked_at, cx)),
        Begun::Answered(result) => Err(result),
        Begun::Later(asking) => Ok(Stage::Claiming(asking)),
    }
}

fn granted<'c, R>(ready: Ready<'c>, grant: Grant, asked_at: Timestamp, cx: &mut Context<'_>) -> Stage<'c, R> {
    if ready.call.asks_attempt() {
        ready.call.granted(ready.store.clock(), grant, asked_at);
    }
    if ready.seat.as_ref().is_some_and(|seat| seat.poll_turn(cx).is_pending()) {
        let renewals = start_renewals(&ready, grant, asked_at);
        return Stage::Queued { ready, grant, asked_at, renewals };
    }
    Stage::Running { ready, grant, asked_at, renewals: None }
}

/// Gives a claim back under which no body has run.
fn give_back(ready: Ready<'_>) {
    let released = ready.store.release(&ready.id(), &ready.call.token);
    if let Looked::Pending(reply) = released.look() {
        let seat = ready.seat;
        // If it does not arrive, the lease runs out.
        ready.store.spawn(Box::pin(async move {
            let _ = reply.await;
            drop(seat);
        }));
    }
}

fn lost_in_queue() -> Error {
    let message = "its lease was lost while it waited for its turn in a batch; its body did not begin";
    Error::new(ErrorKind::InProgress, message).retry_in(Duration::from_millis(100))
}

fn start_renewals(ready: &Ready<'_>, grant: Grant, asked_at: Timestamp) -> Renewals {
    let handler = ready.call.handler;
    let lease = ready.call.granted(ready.store.clock(), grant, asked_at).lease().clone();
    Renewals::start(&ready.store, (ready.id(), ready.call.token), (handler.lease, handler.max_hold), lease)
}

/// Gives the claim back if the body or its `final_error` panics, then lets the panic go on. Without unwinding there is nothing to do: that is a kill.
struct ReleaseOnPanic<'r, 'c>(Option<&'r Ready<'c>>);

impl ReleaseOnPanic<'_, '_> {
    fn not_needed(mut self) {
        self.0 = None;
    }
}

impl Drop for ReleaseOnPanic<'_, '_> {
    fn drop(&mut self) {
        let Some(ready) = self.0 else { return };
        if let Ended::Later(rest) = release(ready, None) {
            let seat = ready.seat.clone();
            ready.store.spawn(Box::pin(async move {
                rest.await;
                drop(seat);
            }));
        }
    }
}

impl<B: Future> fmt::Debug for Run<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("call", self.call).finish_non_exhaustive()
    }
}

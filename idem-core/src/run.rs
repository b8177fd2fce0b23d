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
use crate::store::{Looked, StoreClass, StoreRef};
use crate::{Error, ErrorKind, Timestamp};

mod blocking;
mod claim;
mod end;
mod inbox;
pub(crate) mod patience;
mod replay;

pub use blocking::{Running, Started, run_blocking, start_blocking};
use claim::{Asking, Hold, Step, Told, look_back_first, otherwise};
use end::{Ended, Rest, end, release};
pub use inbox::{Entering, Inside, enter, enter_blocking};
use replay::answer;
pub(crate) use replay::done_without_result;

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
            let stage = this.project().stage;
            if !matches!(stage, Stage::Start | Stage::Over) {
                dropped(std::mem::replace(stage, Stage::Over));
            }
        }
    }
}

enum Stage<'c, R> {
    Start,
    /// In a batch, while an earlier call about the same record goes on.
    Seated(Ready<'c>),
    Claiming(Asking<'c>),
    /// In a batch, granted, until its turn. Boxed, so that one stage alone is as large as a claim.
    Queued(Box<(Hold<'c>, Renewals)>),
    Running {
        hold: Hold<'c>,
        renewals: Option<Renewals>,
    },
    Ending {
        rest: Rest,
        store: StoreRef<'c>,
        seat: Option<Arc<Seat>>,
        result: R,
    },
    Over,
}

#[cold]
fn dropped<R>(stage: Stage<'_, R>) {
    match stage {
        Stage::Running { hold: Hold { ready, .. }, .. } => {
            ready.store.dropped(&ready.id(), &ready.call.token);
        }
        Stage::Queued(queued) => give_back(queued.0.ready),
        Stage::Ending { rest, store, seat, .. } => store.spawn(Box::pin(async move {
            rest.await;
            drop(seat);
        })),
        Stage::Start | Stage::Seated(_) | Stage::Claiming(_) | Stage::Over => {}
    }
}

/// Runs `body` under the claim that `call` asks for, or hands back what a former run came to.
pub fn run<'c, B: Future>(call: &'c Call<'c>, codec: Codec<B::Output>, body: B) -> Run<'c, B> {
    Run { call, codec, stage: Stage::Start, body }
}

impl<B: Future> Future for Run<'_, B> {
    type Output = B::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<B::Output> {
        let this = self.project();
        let (call, codec, stage, body) = (*this.call, this.codec, this.stage, this.body);
        if !matches!(stage, Stage::Start) {
            return go_on(call, codec, stage, body, cx);
        }
        // While at work it is over, so that a panic leaves nothing for the drop to do. There is nothing to drop in its place either.
        std::mem::forget(std::mem::replace(stage, Stage::Over));
        match call.ready() {
            Ok(ready) if batch::is_inside() => {
                *stage = Stage::Seated(batch::join(ready));
                go_on(call, codec, stage, body, cx)
            }
            Ok(ready) => claim(ready, codec, stage, body, cx),
            Err(error) => Poll::Ready((codec.refuse)(call.name(error))),
        }
    }
}

/// Asks the store, and goes on with what it answers in place.
#[inline]
fn claim<'c, B: Future>(
    ready: Ready<'c>,
    codec: &Codec<B::Output>,
    stage: &mut Stage<'c, B::Output>,
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<B::Output> {
    let call = ready.call;
    if !ready.former().is_empty() {
        *stage = Stage::Claiming(look_back_first(ready));
        return go_on(call, codec, stage, body, cx);
    }
    let mut asked_at = Timestamp::ZERO;
    let reply = ready.ask(&mut asked_at);
    match Told::by(&reply) {
        Told::Done(body, how) => Poll::Ready((codec.replay)(call, body, &how)),
        Told::Granted(grant) => granted(Hold { ready, grant, asked_at }, codec, stage, body, cx),
        Told::Else => match otherwise(ready, asked_at, reply) {
            Ok(step) => Poll::Ready(answer(call, codec, step)),
            Err(asking) => {
                *stage = Stage::Claiming(asking);
                go_on(call, codec, stage, body, cx)
            }
        },
    }
}

/// Polls what has waited before, or is about to wait.
fn go_on<'c, B: Future>(
    call: &'c Call<'c>,
    codec: &Codec<B::Output>,
    stage: &mut Stage<'c, B::Output>,
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<B::Output> {
    // Taken out while at work: if anything panics, the future is over and its drop does nothing more.
    match std::mem::replace(stage, Stage::Over) {
        Stage::Seated(ready) => {
            if ready.seat.as_ref().is_some_and(|seat| seat.poll_first(cx).is_pending()) {
                *stage = Stage::Seated(ready);
                return Poll::Pending;
            }
            claim(ready, codec, stage, body, cx)
        }
        Stage::Claiming(mut asking) => match asking.as_mut().poll(cx) {
            Poll::Ready(Step::Run(hold)) => granted(hold, codec, stage, body, cx),
            Poll::Ready(step) => Poll::Ready(answer(call, codec, step)),
            Poll::Pending => {
                *stage = Stage::Claiming(asking);
                Poll::Pending
            }
        },
        Stage::Queued(queued) => {
            if is_queued(&queued.0, cx) {
                *stage = Stage::Queued(queued);
                return Poll::Pending;
            }
            let (hold, renewals) = *queued;
            if call.granted(hold.ready.store.clock(), hold.grant, hold.asked_at).is_lost() {
                let error = call.name(lost_in_queue());
                give_back(hold.ready);
                return Poll::Ready((codec.refuse)(error));
            }
            // The time for which a body may hold begins with it.
            drop(renewals);
            begin(hold, codec, stage, body, cx)
        }
        Stage::Running { hold, renewals } => work(hold, renewals, codec, stage, body, cx),
        Stage::Ending { rest, store, seat, result } => finish(rest, (store, seat), result, codec, stage, cx),
        Stage::Start | Stage::Over => {
            panic!("an idempotent handler's future was polled after it had ended")
        }
    }
}

/// Runs the body of a call that was granted, or lets it wait for its turn.
#[inline]
fn granted<'c, B: Future>(
    hold: Hold<'c>,
    codec: &Codec<B::Output>,
    stage: &mut Stage<'c, B::Output>,
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<B::Output> {
    let Hold { ready, grant, asked_at } = &hold;
    if ready.call.asks_attempt() {
        ready.call.granted(ready.store.clock(), *grant, *asked_at);
    }
    if is_queued(&hold, cx) {
        let renewals = start_renewals(&hold);
        *stage = Stage::Queued(Box::new((hold, renewals)));
        return Poll::Pending;
    }
    begin(hold, codec, stage, body, cx)
}

/// Polls the body for the first time. It may block its thread in it, for longer than a lease, and is not to be overtaken meanwhile. With a
/// store that ends with the process, where a call takes less time than to start renewals, these begin when it first waits.
#[inline]
fn begin<'c, B: Future>(
    hold: Hold<'c>,
    codec: &Codec<B::Output>,
    stage: &mut Stage<'c, B::Output>,
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<B::Output> {
    let outlives = hold.ready.store.class() > StoreClass::Volatile;
    let renewals = outlives.then(|| start_renewals(&hold));
    work(hold, renewals, codec, stage, body, cx)
}

/// Whether the body has to wait for its turn in a batch.
#[inline]
fn is_queued(hold: &Hold<'_>, cx: &mut Context<'_>) -> bool {
    hold.ready.seat.as_ref().is_some_and(|seat| seat.poll_turn(cx).is_pending())
}

/// Polls the body, and records how it ended.
fn work<'c, B: Future>(
    hold: Hold<'c>,
    renewals: Option<Renewals>,
    codec: &Codec<B::Output>,
    stage: &mut Stage<'c, B::Output>,
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<B::Output> {
    let release = ReleaseOnPanic(Some(&hold.ready));
    let outside = batch::leave();
    let polled = body.poll(cx);
    drop(outside);
    let Poll::Ready(mut result) = polled else {
        release.not_needed();
        let renewals = renewals.or_else(|| Some(start_renewals(&hold)));
        *stage = Stage::Running { hold, renewals };
        return Poll::Pending;
    };
    if let Some(seat) = &hold.ready.seat {
        seat.end_turn();
    }
    match end(&hold, codec, &result, renewals, release) {
        Ended::Now(recorded) => {
            (codec.set_recorded)(&mut result, recorded);
            Poll::Ready(result)
        }
        Ended::Later(rest) => finish(rest, (hold.ready.store, hold.ready.seat), result, codec, stage, cx),
    }
}

/// Polls what is left to do after the body.
fn finish<'c, R>(
    mut rest: Rest,
    (store, seat): (StoreRef<'c>, Option<Arc<Seat>>),
    mut result: R,
    codec: &Codec<R>,
    stage: &mut Stage<'c, R>,
    cx: &mut Context<'_>,
) -> Poll<R> {
    match rest.as_mut().poll(cx) {
        Poll::Ready(recorded) => {
            (codec.set_recorded)(&mut result, recorded);
            Poll::Ready(result)
        }
        Poll::Pending => {
            *stage = Stage::Ending { rest, store, seat, result };
            Poll::Pending
        }
    }
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

fn start_renewals(Hold { ready, grant, asked_at }: &Hold<'_>) -> Renewals {
    let (id, token) = (ready.id(), ready.call.token);
    let handler = ready.call.handler;
    let lease = ready.call.granted(ready.store.clock(), *grant, *asked_at).lease().clone();
    Renewals::start(ready.store.to_handle(), (id, token), (handler.lease, handler.max_hold), lease)
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

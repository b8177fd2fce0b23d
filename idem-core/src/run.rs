//! The driver: a future under a claim.
//!
//! One named future, polled in place. It claims, runs the body, renews the lease while the body waits, and records how it
//! ended. Dropped at any await, it leaves this behind:
//!
//! | dropped | left behind |
//! | --- | --- |
//! | before the first poll | nothing: no key was derived, no store asked |
//! | while the claim is under way | the claim is not granted, or is given back in the background |
//! | while the body runs | the claim, until its lease ends: the body's children may still be at work |
//! | after the body, while its end is recorded | the record: the rest goes on in the background |

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::Timestamp;
use crate::answer::Codec;
use crate::call::{Call, Ready};
use crate::lease::Renewals;
use crate::store::StoreRef;

mod blocking;
mod claim;
mod end;
mod patience;
mod replay;

pub use blocking::{Running, Started, run_blocking, start_blocking};
use claim::{Asking, Hold, Step, Told, look_back_first, otherwise};
use end::{Ended, Rest, end, release};
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
            if let Stage::Running { .. } | Stage::Ending { .. } = stage {
                dropped(std::mem::replace(stage, Stage::Over));
            }
        }
    }
}

enum Stage<'c, R> {
    Start,
    Claiming(Asking<'c>),
    Running { hold: Hold<'c>, renewals: Option<Renewals> },
    Ending { rest: Rest, store: StoreRef<'c>, result: R },
    Over,
}

#[cold]
fn dropped<R>(stage: Stage<'_, R>) {
    match stage {
        Stage::Running { hold: Hold { ready, .. }, .. } => {
            ready.store.dropped(&ready.id(), &ready.call.token);
        }
        Stage::Ending { rest, store, .. } => store.spawn(Box::pin(async move {
            rest.await;
        })),
        Stage::Start | Stage::Claiming(_) | Stage::Over => {}
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
        let ready = match call.ready() {
            Ok(ready) if ready.former().is_empty() => ready,
            Ok(ready) => {
                *stage = Stage::Claiming(look_back_first(ready));
                return go_on(call, codec, stage, body, cx);
            }
            Err(error) => return Poll::Ready((codec.refuse)(call.name(error))),
        };
        let mut asked_at = Timestamp::ZERO;
        let reply = ready.ask(&mut asked_at);
        match Told::by(&reply) {
            Told::Done(body, how) => Poll::Ready((codec.replay)(call, body, &how)),
            Told::Granted(grant) => {
                let hold = Hold { ready, grant, asked_at };
                make_attempt(&hold);
                work(codec, stage, hold, None, body, cx)
            }
            Told::Else => match otherwise(ready, asked_at, reply) {
                Ok(step) => Poll::Ready(answer(call, codec, step)),
                Err(asking) => {
                    *stage = Stage::Claiming(asking);
                    go_on(call, codec, stage, body, cx)
                }
            },
        }
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
        Stage::Claiming(mut asking) => match asking.as_mut().poll(cx) {
            Poll::Ready(Step::Run(hold)) => {
                make_attempt(&hold);
                work(codec, stage, hold, None, body, cx)
            }
            Poll::Ready(step) => Poll::Ready(answer(call, codec, step)),
            Poll::Pending => {
                *stage = Stage::Claiming(asking);
                Poll::Pending
            }
        },
        Stage::Running { hold, renewals } => work(codec, stage, hold, renewals, body, cx),
        Stage::Ending { rest, store, result } => finish(codec, stage, (rest, store, result), cx),
        Stage::Start | Stage::Over => {
            panic!("an idempotent handler's future was polled after it had ended")
        }
    }
}

/// Polls the body, and records how it ended.
fn work<'c, B: Future>(
    codec: &Codec<B::Output>,
    stage: &mut Stage<'c, B::Output>,
    hold: Hold<'c>,
    renewals: Option<Renewals>,
    body: Pin<&mut B>,
    cx: &mut Context<'_>,
) -> Poll<B::Output> {
    let release = ReleaseOnPanic(Some(&hold.ready));
    let Poll::Ready(mut result) = body.poll(cx) else {
        release.not_needed();
        // A body that ends at its first poll never gets here, and costs no renewal.
        let renewals = renewals.or_else(|| Some(start_renewals(&hold)));
        *stage = Stage::Running { hold, renewals };
        return Poll::Pending;
    };
    match end(&hold, codec, &result, renewals, release) {
        Ended::Now(recorded) => {
            (codec.set_recorded)(&mut result, recorded);
            Poll::Ready(result)
        }
        Ended::Later(rest) => finish(codec, stage, (rest, hold.ready.store, result), cx),
    }
}

/// Polls what is left to do after the body.
fn finish<'c, R>(
    codec: &Codec<R>,
    stage: &mut Stage<'c, R>,
    (mut rest, store, mut result): (Rest, StoreRef<'c>, R),
    cx: &mut Context<'_>,
) -> Poll<R> {
    match rest.as_mut().poll(cx) {
        Poll::Ready(recorded) => {
            (codec.set_recorded)(&mut result, recorded);
            Poll::Ready(result)
        }
        Poll::Pending => {
            *stage = Stage::Ending { rest, store, result };
            Poll::Pending
        }
    }
}

/// Has the attempt ready for a body that asks for it.
#[inline]
fn make_attempt(Hold { ready, grant, asked_at }: &Hold<'_>) {
    if ready.call.asks_attempt() {
        ready.call.granted(ready.store.clock(), *grant, *asked_at);
    }
}

fn start_renewals(Hold { ready, grant, asked_at }: &Hold<'_>) -> Renewals {
    let handler = ready.call.handler;
    let lease = ready.call.granted(ready.store.clock(), *grant, *asked_at).lease().clone();
    Renewals::start(
        ready.store.to_handle(),
        (ready.id(), ready.call.token),
        (handler.lease, handler.max_hold),
        lease,
    )
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
            ready.store.spawn(Box::pin(async move {
                rest.await;
            }));
        }
    }
}

impl<B: Future> fmt::Debug for Run<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("call", self.call).finish_non_exhaustive()
    }
}

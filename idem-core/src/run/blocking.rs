//! The driver for plain functions.

use std::fmt;

use crate::answer::Codec;
use crate::call::Call;
use crate::lease::Renewals;
use crate::run::claim::{Hold, Step, Told, look_back_first, otherwise};
use crate::run::end::{Ended, end, release};
use crate::run::replay::answer;
use crate::run::{ReleaseOnPanic, start_renewals};
use crate::store::block_on;
use crate::{Error, ErrorKind, Timestamp};

/// Runs `body` under the claim that `call` asks for, or hands back what a former run came to. Blocks the thread while a store
/// behind a disk answers; needs no runtime, and works within one.
pub fn run_blocking<R>(call: &Call<'_>, codec: Codec<R>, body: impl FnOnce() -> R) -> R {
    match start_blocking(call, codec) {
        Started::Answered(answer) => answer,
        Started::Running(running) => {
            let result = body();
            running.end(result)
        }
    }
}

/// The first half of [`run_blocking`], for a body that has to be called where the handler was: `#[track_caller]` reaches through
/// a call, and not through a closure.
pub fn start_blocking<'c, R>(call: &'c Call<'c>, codec: Codec<R>) -> Started<'c, R> {
    let ready = match call.ready() {
        Ok(ready) if ready.store.can_block() => ready,
        Ok(_) => {
            let message = "the store answers to async handlers only, and this handler is a plain `fn`; make it an `async fn`";
            let error = Error::new(ErrorKind::Misconfigured, message);
            return Started::Answered((codec.refuse)(call.name(error)));
        }
        Err(error) => return Started::Answered((codec.refuse)(call.name(error))),
    };
    let step = if ready.former().is_empty() {
        let mut asked_at = Timestamp::ZERO;
        let reply = ready.ask(&mut asked_at);
        match Told::by(&reply) {
            Told::Done(body, how) => return Started::Answered((codec.replay)(call, body, &how)),
            Told::Granted(grant) => Step::Run(Hold { ready, grant, asked_at }),
            Told::Else => otherwise(ready, asked_at, reply).unwrap_or_else(block_on),
        }
    } else {
        block_on(look_back_first(ready))
    };
    let Step::Run(hold) = step else { return Started::Answered(answer(call, &codec, step)) };
    let renewals = Some(start_renewals(&hold));
    Started::Running(Running { hold, codec, renewals })
}

/// What a call came to before its body ran.
#[derive(Debug)]
pub enum Started<'c, R> {
    /// The body does not run.
    Answered(R),
    /// The body has to run now.
    Running(Running<'c, R>),
}

/// The claim while the body runs. Dropped before [`end`](Running::end), as by a panic of the body, it is given back.
pub struct Running<'c, R> {
    hold: Hold<'c>,
    codec: Codec<R>,
    /// `None` once the body has ended.
    renewals: Option<Renewals>,
}

impl<R> Running<'_, R> {
    /// Records how the body ended.
    pub fn end(mut self, mut result: R) -> R {
        let renewals = self.renewals.take();
        let on_panic = ReleaseOnPanic(Some(&self.hold.ready));
        let recorded = match end(&self.hold, &self.codec, &result, renewals, on_panic) {
            Ended::Now(recorded) => recorded,
            Ended::Later(rest) => block_on(rest),
        };
        (self.codec.set_recorded)(&mut result, recorded);
        result
    }
}

impl<R> Drop for Running<'_, R> {
    fn drop(&mut self) {
        if self.renewals.is_some() {
            // The thread may block: a delivery that comes at once then finds the claim back.
            if let Ended::Later(rest) = release(&self.hold.ready, None) {
                block_on(rest);
            }
        }
    }
}

impl<R> fmt::Debug for Running<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("call", self.hold.ready.call).finish_non_exhaustive()
    }
}

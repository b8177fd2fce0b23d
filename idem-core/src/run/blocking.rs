//! The driver for plain functions.

use std::fmt;

use crate::answer::Codec;
use crate::call::{Call, Ready};
use crate::lease::Renewals;
use crate::machine::Grant;
use crate::run::claim::{Begun, Step, begin};
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
    let (ready, grant, asked_at) = match begin(ready, &codec) {
        Begun::Run(ready, grant, asked_at) => (ready, grant, asked_at),
        Begun::Answered(result) => return Started::Answered(result),
        Begun::Later(asking) => match block_on(asking) {
            Step::Run(ready, grant, asked_at) => (ready, grant, asked_at),
            step => return Started::Answered(answer(call, &codec, step)),
        },
    };
    let renewals = Some(start_renewals(&ready, grant, asked_at));
    Started::Running(Running { ready, grant, asked_at, codec, renewals })
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
    ready: Ready<'c>,
    grant: Grant,
    asked_at: Timestamp,
    codec: Codec<R>,
    /// `None` once the body has ended.
    renewals: Option<Renewals>,
}

impl<R> Running<'_, R> {
    /// Records how the body ended.
    pub fn end(mut self, mut result: R) -> R {
        let renewals = self.renewals.take();
        let on_panic = ReleaseOnPanic(Some(&self.ready));
        let recorded =
            match end(&self.ready, &self.codec, (&self.grant, self.asked_at), &result, renewals, on_panic) {
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
            if let Ended::Later(rest) = release(&self.ready, None) {
                block_on(rest);
            }
        }
    }
}

impl<R> fmt::Debug for Running<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("call", self.ready.call).finish_non_exhaustive()
    }
}

//! The driver for plain functions.

use crate::answer::Codec;
use crate::call::Call;
use crate::run::claim::{Begun, Step, begin};
use crate::run::end::{Ended, end};
use crate::run::{ReleaseOnPanic, answer, start_renewals};
use crate::store::block_on;
use crate::{Error, ErrorKind};

/// Runs `body` under the claim that `call` asks for, or hands back what a former run came to. Blocks the thread while a store
/// behind a disk answers; needs no runtime, and works within one.
#[allow(clippy::needless_pass_by_value, reason = "the codec is made for this call, as it is for `run`")]
pub fn run_blocking<R>(call: &Call<'_>, codec: Codec<R>, body: impl FnOnce() -> R) -> R {
    let (ready, grant) = match claim(call) {
        Step::Run(ready, grant, _) => (ready, grant),
        other => return answer(call, &codec, other),
    };
    let renewals = start_renewals(&ready);
    let release = ReleaseOnPanic(Some(&ready));
    let mut result = body();
    let recorded = match end(&ready, &codec, &grant, &result, Some(renewals), release) {
        Ended::Now(recorded) => recorded,
        Ended::Later(rest) => block_on(rest),
    };
    (codec.set_recorded)(&mut result, recorded);
    result
}

fn claim<'c>(call: &'c Call<'c>) -> Step<'c> {
    let step = match call.ready() {
        Ok(ready) if !ready.store.can_block() => {
            let message = "the store answers to async handlers only, and this handler is a plain `fn`; make it an `async fn`";
            return Step::Stop(call.name(Error::new(ErrorKind::Misconfigured, message)));
        }
        // `begin` reports the error again.
        _ => match begin(call) {
            Begun::Now(step) => step,
            Begun::Later(asking) => block_on(asking),
        },
    };
    if let Step::Run(ready, grant, asked_at) = &step {
        ready.call.granted(ready.store.clock(), *grant, *asked_at);
    }
    step
}

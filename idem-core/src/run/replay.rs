//! Without the body: from a stored result, a stored error or an error of our own to what the handler returns.

use crate::answer::{Codec, Replay};
use crate::call::Call;
use crate::codec::Missing;
use crate::observe::{Event, count};
use crate::run::claim::Step;
use crate::{Body, Error, ErrorKind};

/// What a call comes to whose body does not run.
pub(super) fn answer<R>(call: &Call<'_>, codec: &Codec<R>, step: Step<'_>) -> R {
    match step {
        Step::Replay { body, replay: how } => (codec.replay)(call, body.as_ref(), &how),
        Step::Refused { body } => refused(call, codec, body.as_ref()),
        Step::Stop(error) => (codec.refuse)(error),
        Step::Run(..) => unreachable!("the body runs"),
    }
}

/// Either the caller committed what it should have rolled back, or it still is in the middle of it.
const UNFINISHED: &str = "its transaction was committed before its body had ended, so a part of its work may be missing; or it was \
                          called for the same message from within itself";

impl Replay {
    /// Counts a result that was handed back.
    #[inline]
    pub(crate) fn count(&self) {
        count(if self.skipped { Event::Skipped } else { Event::Replayed });
    }
}

/// The error of a call that is done, and whose result cannot be handed back.
#[cold]
pub(crate) fn done_without_result(call: &Call<'_>, missing: &Missing) -> Error {
    let mut message = format!("done, but its result {missing}");
    let kind = match missing {
        Missing::Unfinished => {
            count(Event::Lapsed);
            UNFINISHED.clone_into(&mut message);
            ErrorKind::Lapsed
        }
        Missing::Expired | Missing::TooLarge(_) | Missing::Unserializable => ErrorKind::NotKept,
        Missing::Unreadable(_) => {
            count(Event::Unreadable);
            ErrorKind::Unreadable
        }
    };
    call.name(Error::new(kind, message))
}

fn refused<R>(call: &Call<'_>, codec: &Codec<R>, body: Option<&Body>) -> R {
    let message = match &codec.errors {
        Some(errors) => match (errors.replay)(body) {
            Ok(result) => return result,
            Err(missing) => format!("refused before, but its error {missing}"),
        },
        None => "refused before, by an error that only a handler with `final_error` can read back".to_owned(),
    };
    count(Event::Unreadable);
    (codec.refuse)(call.name(Error::new(ErrorKind::Refused, message)))
}

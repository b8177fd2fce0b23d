//! The driver of a handler that records itself in its own transaction.
//!
//! The caller owns the transaction: it begins it and, once the handler has returned, commits it or rolls it back. So there is nothing
//! here to renew, to hand to the background or to give back: what goes wrong midway, the database takes back with the rest.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use crate::answer::{Codec, Replay};
use crate::call::Call;
use crate::codec::{self, Encoding};
use crate::machine::{Entry, Record, Settlement, Verdict};
use crate::observe::{Event, count};
use crate::run::claim::stop;
use crate::run::replay::answer;
use crate::transaction::{AsyncTransaction, BlockingTransaction, Entered, Rules};
use crate::{Body, Error, ErrorKind, StoreError};

/// What a call comes to before its body runs.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is the one that is meant to be; it lives in the handler's frame"
)]
pub enum Entering<'c, R, Records> {
    /// The body does not run.
    Answered(R),
    /// The body has to run now, in the transaction.
    Inside(Inside<'c, R, Records>),
}

/// A call whose record is written, while its body runs.
pub struct Inside<'c, R, Records> {
    call: &'c Call<'c>,
    codec: Codec<R>,
    records: Records,
    entry: Entry,
    before: Option<Box<Record>>,
}

/// Writes the record in a transaction of a plain `fn`, unless there is one that answers for the call.
pub fn enter_blocking<'c, R, T: BlockingTransaction + ?Sized>(
    call: &'c Call<'c>,
    codec: Codec<R>,
    transaction: &T,
    records: Option<T::Records>,
) -> Entering<'c, R, T::Records> {
    let entry = match call.entry(&codec) {
        Ok(entry) => entry,
        Err(error) => return Entering::Answered((codec.refuse)(call.name(error))),
    };
    let records = records.unwrap_or_default();
    let entered = transaction.enter(&records, &entry, &call.rules());
    judge(call, codec, records, entry, entered)
}

/// Writes the record in a transaction of an `async fn`, unless there is one that answers for the call.
pub async fn enter<'c, R, T: AsyncTransaction + ?Sized>(
    call: &'c Call<'c>,
    codec: Codec<R>,
    transaction: &mut T,
    records: Option<T::Records>,
) -> Entering<'c, R, T::Records> {
    let entry = match call.entry(&codec) {
        Ok(entry) => entry,
        Err(error) => return Entering::Answered((codec.refuse)(call.name(error))),
    };
    let records = records.unwrap_or_default();
    let entered = transaction.enter(&records, &entry, &call.rules()).await;
    judge(call, codec, records, entry, entered)
}

fn judge<'c, R, Records>(
    call: &'c Call<'c>,
    codec: Codec<R>,
    records: Records,
    entry: Entry,
    entered: Result<Entered, StoreError>,
) -> Entering<'c, R, Records> {
    let step = match entered {
        Ok(Entered::Run { before }) => {
            return Entering::Inside(Inside { call, codec, records, entry, before });
        }
        Ok(Entered::Judged(Verdict::Completed { body, age, skipped, .. })) => {
            let replayed = (codec.replay)(call, body.as_ref(), &Replay { age, skipped });
            return Entering::Answered(replayed);
        }
        Ok(Entered::Judged(verdict)) => stop(call, verdict),
        Ok(Entered::Racing) => {
            count(Event::InProgress);
            let message = "another transaction has this message, and has not been committed yet";
            let error = Error::new(ErrorKind::InProgress, message).retry_in(RACE);
            return Entering::Answered((codec.refuse)(call.name(error)));
        }
        Err(error) => {
            count(Event::Unavailable);
            return Entering::Answered((codec.refuse)(call.name(error.into())));
        }
    };
    Entering::Answered(answer(call, &codec, step))
}

/// When a delivery should come back that met another one's transaction: nobody knows how long that will take.
const RACE: Duration = Duration::from_secs(1);

impl<R, Records> Inside<'_, R, Records> {
    /// Writes how the body ended. If it panicked, nothing is to be remembered, as after an error: whoever catches the panic may commit all the
    /// same.
    pub fn settle_blocking<T>(self, transaction: &T, ended: thread::Result<R>) -> R
    where
        T: BlockingTransaction<Records = Records> + ?Sized,
    {
        let judged = self.judge(ended);
        let settlement = settlement(&judged);
        let settled = transaction.settle(&self.records, &self.entry, self.before.as_deref(), settlement);
        self.settled(judged, settled)
    }

    /// As [`settle`](Self::settle), and as [`settle_blocking`](Self::settle_blocking) after a panic.
    #[doc(hidden)]
    pub async fn settle_ended<T>(self, transaction: &mut T, ended: thread::Result<R>) -> R
    where
        T: AsyncTransaction<Records = Records> + ?Sized,
    {
        let judged = self.judge(ended);
        let before = self.before.as_deref();
        let settled = transaction.settle(&self.records, &self.entry, before, settlement(&judged)).await;
        self.settled(judged, settled)
    }

    /// Writes how the body ended.
    pub async fn settle<T>(self, transaction: &mut T, result: R) -> R
    where
        T: AsyncTransaction<Records = Records> + ?Sized,
    {
        self.settle_ended(transaction, Ok(result)).await
    }

    /// What is to be remembered. Whether an error is final the handler's own code says, and that may panic too.
    fn judge(&self, ended: thread::Result<R>) -> Judged<R> {
        let result = ended?;
        let end = catch_unwind(AssertUnwindSafe(|| self.end(&result)))?;
        Ok((result, end))
    }

    fn end(&self, result: &R) -> End {
        let mut body = Body::default();
        let mut encoding = Encoding::begin(&mut body);
        if (self.codec.encode)(result, &mut encoding) {
            if !encoding.is_kept() {
                count(Event::NotKept);
            }
            return End { success: true, settlement: Settlement::Done(body) };
        }
        let errors = self.codec.errors.as_ref();
        let settlement = if errors.is_some_and(|errors| (errors.encode)(result, &mut encoding)) {
            Settlement::Failed { body, ttl: self.call.handler.error_ttl }
        } else {
            count(Event::Released);
            Settlement::Withdrawn
        };
        End { success: false, settlement }
    }

    fn settled(&self, judged: Judged<R>, settled: Result<(), StoreError>) -> R {
        let (mut result, end) = match judged {
            Ok(judged) => judged,
            Err(panic) => {
                count(Event::Released);
                // If it could not be withdrawn, the transaction is lost, which is as good.
                resume_unwind(panic)
            }
        };
        match settled {
            // The handler's own error says more, and is an error all the same.
            _ if !end.success => result,
            Ok(()) => {
                count(Event::Executed);
                (self.codec.set_recorded)(&mut result, true);
                result
            }
            // Not a success that must stand: its effects are in the transaction, and go with it.
            Err(error) => {
                count(Event::Unrecorded);
                (self.codec.refuse)(self.call.name(error.into()))
            }
        }
    }
}

/// How a body ended.
struct End {
    success: bool,
    settlement: Settlement,
}

/// A result and what is to be remembered of it, or the panic that it, or what judges it, ended with.
type Judged<R> = thread::Result<(R, End)>;

fn settlement<R>(judged: &Judged<R>) -> &Settlement {
    match judged {
        Ok((_, end)) => &end.settlement,
        Err(_) => &Settlement::Withdrawn,
    }
}

impl<'c> Call<'c> {
    fn entry<R>(&'c self, codec: &Codec<R>) -> Result<Entry, Error> {
        Ok(Entry {
            id: self.record()?,
            token: self.token,
            fingerprint: self.fingerprint(),
            body: (codec.only_value)().unwrap_or_else(codec::pending),
            ttl: self.handler.ttl,
            keep: self.handler.keep,
        })
    }

    fn rules(&self) -> Rules<'_> {
        Rules { former: self.former(), on_duplicate: self.handler.on_duplicate }
    }
}

impl<R, Records> fmt::Debug for Inside<'_, R, Records> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside").field("call", self.call).finish_non_exhaustive()
    }
}

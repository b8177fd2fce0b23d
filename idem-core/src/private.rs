//! What `#[idempotent]` expands to. Not for hand-written code, and free to change in any release.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

pub use crate::__register as register;
pub use crate::answer::{Codec, codec};
pub use crate::call::Call;
pub use crate::fingerprint::{Encoder, Failed, Open, OpenMap};
pub use crate::key::read::place;
pub use crate::key::{
    AnyShapePart, ClockPart, FloatPart, ListPart, LockedPart, ProcessPart, RandomPart, ResultPart, UnitPart,
    part_of,
};
pub use crate::message::{
    Facts, FactsOf, NoFacts, NoPayload, NotTold, Payload, PayloadField, PayloadOf, Probe, Role, Told,
};
#[cfg(feature = "table")]
pub use crate::registry::{IDEM_0_1_HANDLERS as HANDLERS, RegisteredHandler};
pub use crate::run::{
    Entering, Inside, Run, Running, Started, enter, enter_blocking, run, run_blocking, start_blocking,
};
pub use crate::store::class;
pub use crate::store::{StoreHandle, ToStoreHandle, TypedStore, UnclassedStore};
pub use crate::{
    Error, Fingerprint, Handler, Key, KeyOnly, KeyPart, KeyText, KeyWriter, Message, Mode, OnDuplicate,
    OnLapse, StoreClass,
};

// By their names too, which the compiler shows.
pub use crate::key::read::{
    ReadAny, ReadAnyShape, ReadClock, ReadFloat, ReadList, ReadLocked, ReadProcess, ReadRandom, ReadResult,
    ReadUnit,
};

/// How the attribute reads a place, by its type.
pub mod read {
    pub use super::{
        ReadAny as _, ReadAnyShape as _, ReadClock as _, ReadFloat as _, ReadList as _, ReadLocked as _,
        ReadProcess as _, ReadRandom as _, ReadResult as _, ReadUnit as _,
    };
}

/// Calls the body of a plain function.
///
/// # Errors
/// What it panicked with.
#[inline]
pub fn catch<R>(body: impl FnOnce() -> R) -> std::thread::Result<R> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Waits for the body of an asynchronous function, where it stands: handed over by value, a future would have room for it twice.
///
/// It comes to what the body does, or to what it panicked with.
pub fn caught<F>(body: Pin<&mut F>) -> Caught<'_, F> {
    Caught(body)
}

/// See [`caught`].
#[derive(Debug)]
pub struct Caught<'b, F>(Pin<&'b mut F>);

impl<F: Future> Future for Caught<'_, F> {
    type Output = std::thread::Result<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

// The table's entries are made in the handler's crate, which knows no linkme.
#[cfg(feature = "table")]
pub use linkme;

// From `core`, for expansions where nothing of it is in scope.
pub use core::any::{type_name, type_name_of_val};
pub use core::marker::PhantomData;
pub use core::mem::ManuallyDrop;
pub use core::option::Option::{None, Some};
pub use core::pin::pin;
pub use core::result::Result;
pub use core::time::Duration;
pub use core::{concat, module_path};

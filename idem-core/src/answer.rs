//! What a handler may return.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::codec::{self, Encoding, Missing};
use crate::run::done_without_result;
use crate::{Body, Error, Outcome};

/// The return type of an idempotent handler: `Result<T, E>`, under any alias.
#[diagnostic::on_unimplemented(
    message = "an idempotent handler returns `Result<T, E>`, and this one returns `{Self}`",
    label = "this result can be neither stored nor replayed",
    note = "return `Result<T, E>` with `E: From<idem::Error>`; a handler that returns a future is written as `async fn`"
)]
pub trait Answer: Sized {
    #[doc(hidden)]
    fn codec() -> Codec<Self>;
}

/// A value that can be stored and replayed: `Serialize + DeserializeOwned`, or an [`Outcome`] of such a value.
#[diagnostic::on_unimplemented(
    message = "the value of an idempotent handler is stored and replayed, but `{Self}` cannot be",
    label = "this value cannot be replayed",
    note = "derive both `serde::Serialize` and `serde::Deserialize` for it (owned: without borrowed fields)"
)]
pub trait Stored: Sized {
    #[doc(hidden)]
    fn encode(&self, into: &mut Encoding<'_>);
    #[doc(hidden)]
    fn replay(body: Option<&Body>, replay: &Replay) -> Result<Self, Unreplayed>;
    #[doc(hidden)]
    fn set_recorded(&mut self, recorded: bool);
    /// The bytes of the only value that there is of this type.
    #[doc(hidden)]
    fn only_value() -> Option<Body>;
}

/// An error type that can hold idem's own errors: anything with `From<idem::Error>`.
#[diagnostic::on_unimplemented(
    message = "the error type `{Self}` of an idempotent handler cannot hold a store failure",
    label = "a claim that fails has to come out as this error",
    note = "add `impl From<idem::Error> for {Self}`; if `{Self}` is another crate's, take an error type of your own, or `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait CarriesError: Sized {
    #[doc(hidden)]
    fn carry(error: Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<Error>> CarriesError for E {
    fn carry(error: Error) -> Self {
        Self::from(error)
    }
}

/// An error that `final_error` can have remembered: `Serialize + DeserializeOwned`.
#[diagnostic::on_unimplemented(
    message = "an error that `final_error` chooses is stored and replayed, but `{Self}` cannot be",
    label = "this option needs an error type that can be stored",
    note = "derive both `serde::Serialize` and `serde::Deserialize` for `{Self}`, with `#[serde(skip)]` on the variant that holds an `idem::Error`; where that cannot be done, take an error type of your own, or leave `final_error` out"
)]
pub trait StoredError: Serialize + DeserializeOwned + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Serialize + DeserializeOwned + 'static> StoredError for E {}

/// Why a done result cannot be handed back. Opaque outside of this crate.
#[derive(Debug)]
pub struct Unreplayed(Missing);

/// How a result is handed back without a run. Opaque outside of this crate.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    pub(crate) age: Duration,
    pub(crate) skipped: bool,
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Stored for T {
    fn encode(&self, into: &mut Encoding<'_>) {
        codec::encode(self, into);
    }

    #[inline]
    fn replay(body: Option<&Body>, _: &Replay) -> Result<Self, Unreplayed> {
        codec::decode(body).map_err(Unreplayed)
    }

    fn set_recorded(&mut self, _: bool) {}

    fn only_value() -> Option<Body> {
        codec::only_value::<T>()
    }
}

impl<T: Serialize + DeserializeOwned> Stored for Outcome<T> {
    fn encode(&self, into: &mut Encoding<'_>) {
        codec::encode(self.value(), into);
    }

    #[inline]
    fn replay(body: Option<&Body>, replay: &Replay) -> Result<Self, Unreplayed> {
        let value = codec::decode(body).map_err(Unreplayed)?;
        Ok(if replay.skipped { Self::Skipped { value } } else { Self::Replayed { value, age: replay.age } })
    }

    fn set_recorded(&mut self, recorded: bool) {
        if let Self::Executed { recorded: slot, .. } = self {
            *slot = recorded;
        }
    }

    fn only_value() -> Option<Body> {
        codec::only_value::<T>()
    }
}

impl<T: Stored, E: CarriesError> Answer for Result<T, E> {
    fn codec() -> Codec<Self> {
        Codec {
            encode: |result, into| match result {
                Ok(value) => {
                    value.encode(into);
                    true
                }
                Err(_) => false,
            },
            replay: |call, body, how| match T::replay(body, how) {
                Ok(value) => {
                    how.count();
                    Ok(value)
                }
                Err(missing) => Err(E::carry(done_without_result(call, &missing.0))),
            },
            refuse: |error| Err(E::carry(error)),
            set_recorded: |result, recorded| {
                if let Ok(value) = result {
                    value.set_recorded(recorded);
                }
            },
            only_value: T::only_value,
            errors: None,
        }
    }
}

/// How a return type is encoded, replayed and refused, as plain functions: the driver is generic over no trait, so that a
/// type that cannot be stored gives one error, at the return type.
pub struct Codec<R> {
    /// Encodes a success; says no to an error.
    pub(crate) encode: fn(&R, &mut Encoding<'_>) -> bool,
    pub(crate) replay: fn(&Call<'_>, Option<&Body>, &Replay) -> R,
    pub(crate) refuse: fn(Error) -> R,
    pub(crate) set_recorded: fn(&mut R, bool),
    /// The bytes of a success, if there can be only one.
    pub(crate) only_value: fn() -> Option<Body>,
    pub(crate) errors: Option<ErrorCodec<R>>,
}

/// Boxed, since it holds the handler's own `final_error`, whose type the driver does not know.
type EncodeError<R> = Box<dyn Fn(&R, &mut Encoding<'_>) -> bool + Send + Sync>;

/// How errors worth remembering are encoded and replayed.
pub(crate) struct ErrorCodec<R> {
    /// Encodes an error that is worth remembering; says no to any other result.
    pub(crate) encode: EncodeError<R>,
    pub(crate) replay: fn(Option<&Body>) -> Result<R, Missing>,
}

impl<T, E> Codec<Result<T, E>> {
    /// Remembers errors for which `is_final` says yes; all others release the claim.
    #[must_use]
    pub fn final_error(mut self, is_final: fn(&E) -> bool) -> Self
    where
        E: StoredError,
    {
        self.errors = Some(ErrorCodec {
            encode: Box::new(move |result, into| match result {
                Err(error) if is_final(error) => {
                    codec::encode(error, into);
                    true
                }
                _ => false,
            }),
            replay: |body| codec::decode(body).map(Err),
        });
        self
    }
}

impl<R> std::fmt::Debug for Codec<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Codec")
    }
}

/// The codec of the return type `R`; the one place where its bounds are checked.
pub fn codec<R: Answer>() -> Codec<R> {
    R::codec()
}

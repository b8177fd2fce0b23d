//! What a type says about itself as a message: which field is its identity, which differ per delivery, and what is payload.

use std::rc::Rc;
use std::sync::Arc;

mod facts;
mod payload;

pub use facts::{Facts, FactsOf, NoFacts, Role};
pub use payload::{NoPayload, NotTold, Payload, PayloadField, PayloadOf, Probe, Told};

/// A message whose fields say what they are: derive it, with `#[derive(idem::Message)]`.
///
/// `#[idempotent]` then goes by these facts, for an argument that is such a message, a reference to one, or one in a `Box`, `Rc`
/// or `Arc`: its key has to contain the identity and no field that differs per delivery, and all of the payload has to be equal
/// under one key, unless `payload(…)` or `payload = none` says otherwise.
///
/// What it consists of is no part of idem's promises, so only the derive can implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its fields is its identity",
    label = "this is no `idem::Message`",
    note = "add `#[derive(idem::Message)]` to it, and `#[message(id)]` to the field that the publisher gives once"
)]
pub trait Message {
    #[doc(hidden)]
    const __FACTS: &'static Facts;

    /// Adds the payload.
    #[doc(hidden)]
    fn __payload(&self, to: &mut Payload);
}

macro_rules! through {
    ($($pointer:ty),*) => {$(
        impl<M: Message + ?Sized> Message for $pointer {
            const __FACTS: &'static Facts = M::__FACTS;

            fn __payload(&self, to: &mut Payload) {
                M::__payload(self, to);
            }
        }
    )*};
}

through!(&M, &mut M, Box<M>, Rc<M>, Arc<M>);

//! From the model to tokens. Nothing here can fail.

use proc_macro2::TokenStream;

use crate::model::Function;

mod body;
mod call;
mod facts;
mod handler;
mod inbox;
mod outside;
mod registered;
mod signature;

pub(crate) use outside::key;
pub(crate) use signature::{arguments, rebuilt};

/// The function with its guard.
pub(crate) fn function(function: &Function) -> TokenStream {
    signature::around(function, body::guarded(function))
}

//! `#[derive(KeyPart)]`: from tokens to what was written ([`item`]), what it means ([`check`], [`model`]), and tokens again
//! ([`expand`]). If there was a mistake, an impl stands there all the same, so that the mistake is the only error.

use proc_macro2::TokenStream;

use crate::diagnostics::Diagnostics;
use model::Part;

mod check;
mod expand;
mod item;
mod model;
mod words;

pub(crate) fn derived(input: TokenStream) -> TokenStream {
    let mut cx = Diagnostics::default();
    let Ok(item) = item::Item::parse(input) else {
        // The compiler has parsed it before us, and reports what it could not.
        return TokenStream::new();
    };
    let paths = check::paths(&item, &mut cx);
    match check::part(&item, paths, &mut cx) {
        Ok(part) if cx.is_empty() => expand::part(&part),
        Ok(Part { paths, .. }) | Err(paths) => {
            cx.into_tokens().into_iter().chain(expand::standing(&item, &paths)).collect()
        }
    }
}

#[cfg(test)]
mod tests;

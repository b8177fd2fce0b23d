//! The attribute of idem. Users depend on the facade, `idem-rs`.
//!
//! Tokens become arguments ([`args`], [`item`]: what was written), arguments a model ([`check`], [`model`]: what it means, every
//! mistake found), and the model tokens again ([`expand`], which cannot fail). If there was a mistake, [`fallback`] keeps the
//! rest of the program standing.
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;

mod args;
mod check;
mod diagnostics;
mod duration;
mod expand;
mod fallback;
mod item;
mod known;
mod model;
mod names;
mod near;
mod paths;
mod place;
mod rules;
mod shape;
mod template;
mod tokens;

/// Makes a message handler idempotent: a message that comes twice is worked on once.
#[proc_macro_attribute]
pub fn idempotent(
    attribute: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expanded(attribute.into(), item.into()).into()
}

fn expanded(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut cx = diagnostics::Diagnostics::default();
    let args = args::Args::parse(attribute, &mut cx);
    let parsed = match item::Item::parse(item.clone()) {
        Ok(parsed) => parsed,
        Err(other) => {
            check::not_a_function(&other, &mut cx);
            return item.into_iter().chain(cx.into_tokens()).collect();
        }
    };
    let standing = fallback::function(&parsed);
    match check::function(&args, parsed, &mut cx) {
        Some(function) if cx.is_empty() => expand::function(&function),
        _ => cx.into_tokens().into_iter().chain(standing).collect(),
    }
}

#[cfg(test)]
mod tests;

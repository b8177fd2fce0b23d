//! The user's function when checks fail: so that its callers still compile, and its errors are the only ones.

use proc_macro2::{Group, TokenStream};
use quote::quote_spanned;

use crate::check::Mistaken;
use crate::diagnostics::Diagnostics;
use crate::expand::{arguments, rebuilt};
use crate::item::{ArgumentKind, Item, inner_attributes};
use crate::names;

/// The function as it was written, without the arguments that idem would have supplied: callers do not pass them. The body
/// still sees them, as values that never are.
pub(crate) fn function(item: &Item) -> TokenStream {
    let site = names::site();
    let supplied = item.arguments.iter().filter(|argument| argument.helper.is_some()).map(|argument| {
        let tokens = &argument.tokens;
        match &argument.kind {
            ArgumentKind::Typed { ty, .. } => {
                quote_spanned!(site=> let #tokens = (|| -> #ty { ::core::unreachable!() })();)
            }
            _ => TokenStream::new(),
        }
    });
    // What only the key would have read is not unused.
    let mut seen = Vec::new();
    for name in
        item.given().filter(|argument| argument.cfgs.is_empty()).flat_map(super::item::Argument::bindings)
    {
        if !seen.contains(&name) && name != "self" {
            seen.push(name);
        }
    }
    let read = (!seen.is_empty()).then(|| quote_spanned!(site=> let _ = (#(&#seen,)*);));
    let (attributes, work) = inner_attributes(item, item.body.stream());
    let body = quote_spanned!(site=> #attributes #(#supplied)* #read #work);
    let arguments = if item.arguments.iter().any(|argument| argument.helper.is_some()) {
        arguments(item, false)
    } else {
        item.parens.stream()
    };
    let mut braces = Group::new(item.body.delimiter(), body);
    braces.set_span(item.body.span());
    rebuilt(item, arguments, braces.stream())
}

/// Mistakes in a key outside of attributes: an expression of the right type, which never is, and which reads what was to be read.
pub(crate) fn key(cx: Diagnostics, mistaken: &Mistaken) -> TokenStream {
    let site = names::site();
    let errors = cx.into_tokens();
    let Mistaken { paths, read } = mistaken;
    let private = paths.private();
    quote_spanned!(site=> {
        #errors
        #(let _ = &#read;)*
        (|| -> #private::Result<#private::Key, #private::Error> { ::core::unreachable!() })()
    })
}

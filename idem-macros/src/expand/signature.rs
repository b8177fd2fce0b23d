//! The function around its body: as it was written, without the arguments that idem supplies.

use proc_macro2::{Group, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;

use crate::check::{is_ignored, simple_name};
use crate::item::{ArgumentKind, Item};
use crate::model::Function;
use crate::names;
use crate::shape::Shape;

/// The user's own attributes, qualifiers, name, parentheses and braces around `body`.
pub(super) fn around(function: &Function, body: TokenStream) -> TokenStream {
    let item = &function.item;
    let name_ignored = matches!(function.shape, Shape::Async);
    let arguments = if function.tracked { forwarded(item) } else { arguments(item, name_ignored) };
    rebuilt(item, arguments, body)
}

/// The item with these arguments and this body. Its braces and parentheses are the user's, or lints would take the whole
/// function for ours and stay silent about it.
pub(crate) fn rebuilt(item: &Item, arguments: TokenStream, body: TokenStream) -> TokenStream {
    let attributes = item.attributes.iter().map(|attribute| &attribute.tokens);
    let Item { head, arrow, output, where_clause, .. } = item;
    let mut parens = Group::new(item.parens.delimiter(), arguments);
    parens.set_span(item.parens.span());
    let mut braces = Group::new(item.body.delimiter(), body);
    braces.set_span(item.body.span());
    quote!(#(#attributes)* #head #parens #arrow #output #where_clause #braces)
}

/// The arguments that the caller gives. One that is written `_` gets a name that nobody sees if the future is to own it.
pub(crate) fn arguments(item: &Item, name_ignored: bool) -> TokenStream {
    let mut arguments = TokenStream::new();
    for (at, argument) in item.arguments.iter().enumerate() {
        if argument.helper.is_some() {
            continue;
        }
        if !arguments.is_empty() {
            arguments.extend([TokenTree::Punct(Punct::new(',', Spacing::Alone))]);
        }
        match &argument.kind {
            ArgumentKind::Typed { ty, .. }
                if name_ignored && argument.cfgs.is_empty() && is_ignored(&argument.kind) =>
            {
                let name = names::ignored(at);
                arguments.extend(quote!(#name: #ty));
            }
            _ => arguments.extend(argument.tokens.clone()),
        }
    }
    arguments
}

/// The arguments of a function that only hands them on: without `mut`, which it would not need.
fn forwarded(item: &Item) -> TokenStream {
    let arguments = item.given().filter_map(|argument| match &argument.kind {
        ArgumentKind::Typed { pattern, ty, .. } => simple_name(pattern).map(|name| quote!(#name: #ty)),
        _ => None,
    });
    quote!(#(#arguments),*)
}

//! What the attribute can stand on.

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::diagnostics::Diagnostics;
use crate::item::{Argument, ArgumentKind, Attribute, Item, NotAFunction};
use crate::rules;
use crate::shape::Shape;
use crate::tokens::{any_ident, is_ident, is_punct, only_group};

pub(super) fn not_a_function(item: &NotAFunction, cx: &mut Diagnostics) {
    match &item.no_body {
        Some(name) => cx.report(
            &rules::ITEM_NO_BODY,
            name,
            format_args!("`#[idempotent]` needs a function with a body, and `{name}` is only declared here"),
            format_args!("put it on the implementation of `{name}`"),
        ),
        None => cx.report(
            &rules::ITEM_NOT_A_FUNCTION,
            item.at,
            format_args!("`#[idempotent]` goes on a function or a method with a body, not on {}", item.what),
            format_args!("put it on each function or method that handles messages"),
        ),
    }
}

/// A `const fn` cannot ask a store.
pub(super) fn qualifiers(item: &Item, cx: &mut Diagnostics) {
    let name = &item.name;
    if let Some(at) = item.constness {
        cx.report(
            &rules::ITEM_CONST,
            at,
            format_args!("`#[idempotent]` cannot be used on a `const fn`"),
            format_args!("write `fn {name}`, without `const`"),
        );
    }
}

/// `idempotent` of `#[idem::idempotent(…)]`.
fn last_of_path(attribute: &Attribute) -> Option<Ident> {
    let group = only_group(attribute.tokens.clone().into_iter().skip(1).collect())?;
    let path = group.stream().into_iter();
    let path = path.take_while(|token| matches!(token, TokenTree::Ident(_)) || is_punct(token, ':'));
    path.last().and_then(|last| match last {
        TokenTree::Ident(name) => Some(name),
        _ => None,
    })
}

/// The outer attribute would hold the claim that the inner one asks for.
pub(super) fn once(item: &Item, cx: &mut Diagnostics) {
    let name = &item.name;
    for at in item.attributes.iter().filter_map(last_of_path).filter(|last| last == "idempotent") {
        cx.report(
            &rules::ITEM_REPEATED,
            &at,
            format_args!("`{name}` has `#[idempotent]` twice"),
            format_args!("keep one; for the first of several keys with all its parts: `key = [\"evt:<…>\", \"msg:<…>\"]`"),
        );
    }
}

/// Whether the body has to be a function of its own, so that `#[track_caller]` reaches into it. A closure would silently mean
/// another line. (On an `async fn` the attribute means nothing, and the compiler says so.)
pub(super) fn is_tracked(item: &Item, shape: &Shape, cx: &mut Diagnostics) -> bool {
    let attribute = item.attributes.iter().filter_map(|attribute| attribute.name.as_ref());
    let Some(at) = attribute.into_iter().find(|name| *name == "track_caller") else { return false };
    if !matches!(shape, Shape::Sync) {
        return false;
    }
    if !can_be_apart(item) {
        let name = &item.name;
        cx.report(
            &rules::ITEM_TRACK_CALLER,
            at,
            format_args!("`#[track_caller]` cannot be kept on `{name}`, which is a method, generic, unsafe, or takes patterns"),
            format_args!("remove it, and pass the location as an argument if `{name}` needs it"),
        );
    }
    true
}

/// Whether the body means the same in a function of its own inside of this one.
fn can_be_apart(item: &Item) -> bool {
    let unnameable =
        |ident: &Ident| ident == "Self" || ident == "impl" || ident == "unsafe" || ident == "extern";
    let simple = |argument: &Argument| match &argument.kind {
        ArgumentKind::Typed { pattern, bindings, .. } => {
            argument.cfgs.is_empty() && bindings.len() == 1 && simple_name(pattern).is_some()
        }
        _ => false,
    };
    item.types.is_empty()
        && item.consts.is_empty()
        && item.arguments.iter().all(simple)
        && !any_ident(item.parens.stream(), &mut |ident| unnameable(ident))
        && !any_ident(item.head.clone(), &mut |ident| unnameable(ident))
        && !any_ident(item.body.stream(), &mut |ident| ident == "Self")
}

/// The name of a pattern that is a name, `mut` or not.
pub(crate) fn simple_name(pattern: &TokenStream) -> Option<Ident> {
    let tokens: Vec<TokenTree> = pattern.clone().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name)] if name != "_" => Some(name.clone()),
        [mutable, TokenTree::Ident(name)] if is_ident(mutable, "mut") => Some(name.clone()),
        _ => None,
    }
}

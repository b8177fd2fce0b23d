//! Lifetimes of arguments that idem supplies.
//!
//! `#[async_trait]` expands first, and gives each reference among the arguments a lifetime parameter: `#[key] key: &Key` is
//! `key: &'life1 Key` when we see it. Callers do not pass the key, so the parameter goes with the argument, or the method would
//! not be the trait's.

use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};

use super::{Argument, ArgumentKind, Item};
use crate::tokens::{is_ident, is_punct, lifetimes, split_commas};

/// Takes away the lifetimes that only supplied arguments mention.
pub(super) fn forget_lifetimes(item: &mut Item) {
    let mut gone: Vec<String> = Vec::new();
    for argument in item.arguments.iter_mut().filter(|argument| argument.helper.is_some()) {
        if let ArgumentKind::Typed { ty, .. } = &mut argument.kind {
            gone.extend(lifetimes(ty));
            *ty = without_lifetimes(ty.clone());
            argument.tokens = without_lifetimes(argument.tokens.clone());
        }
    }
    let given = item.arguments.iter().filter(|argument| argument.helper.is_none());
    let mut kept: Vec<String> = given.flat_map(|argument: &Argument| lifetimes(&argument.tokens)).collect();
    kept.extend(lifetimes(&item.output));
    gone.retain(|lifetime| !kept.contains(lifetime));
    if gone.is_empty() {
        return;
    }
    let declares = |tokens: &TokenStream| {
        let mut tokens = tokens.clone().into_iter();
        let quote = tokens.next().is_some_and(|token| is_punct(&token, '\''));
        quote && tokens.next().is_some_and(|name| gone.iter().any(|gone| is_ident(&name, &gone[1..])))
    };
    let filtered = |tokens: &TokenStream| -> TokenStream {
        let parts = split_commas(tokens.clone()).into_iter().filter(|part| !declares(part));
        parts.flat_map(|part| part.into_iter().chain([comma()])).collect()
    };
    let before_generics = item.head.clone().into_iter().take_while(|token| !is_punct(token, '<'));
    let brackets: Vec<TokenTree> =
        item.head.clone().into_iter().filter(|token| is_punct(token, '<') || is_punct(token, '>')).collect();
    let generics = filtered(&item.generics);
    if let (Some(open), Some(close)) = (brackets.first(), brackets.last()) {
        let bracketed = [open.clone()].into_iter().chain(generics.clone()).chain([close.clone()]);
        item.head = before_generics.chain(bracketed).collect();
        item.generics = generics;
    }
    let mut clause = item.where_clause.clone().into_iter();
    if let Some(word) = clause.next() {
        item.where_clause = std::iter::once(word).chain(filtered(&clause.collect())).collect();
    }
}

fn comma() -> TokenTree {
    TokenTree::Punct(Punct::new(',', Spacing::Alone))
}

/// A type with its named lifetimes left out.
fn without_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if is_punct(&token, '\'') {
            tokens.next();
        } else {
            out.extend([token]);
        }
    }
    out
}

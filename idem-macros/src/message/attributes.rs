//! `#[message(…)]` as it was written.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{Attribute, Meta};

use super::fields::{Mark, Role};
use super::serde;
use crate::diagnostics::{At, Diagnostics, list};
use crate::near::nearest;
use crate::rules;
use crate::tokens::{is_ident, is_punct, split_commas};

/// What the attributes of the type itself say.
pub(super) struct Container {
    /// `crate = path`.
    pub(super) krate: Option<TokenStream>,
    /// Where it says `#[serde(default)]`.
    pub(super) default: Option<Span>,
}

pub(super) fn container(attributes: &[Attribute], cx: &mut Diagnostics) -> Container {
    let mut krate = None;
    for words in lists(attributes, "message", cx) {
        let tokens: Vec<TokenTree> = words.clone().into_iter().collect();
        match &tokens[..] {
            [word, equals, path @ ..]
                if is_ident(word, "crate") && is_punct(equals, '=') && !path.is_empty() =>
            {
                krate = Some(path.iter().cloned().collect());
            }
            _ => misplaced(&words, "a field", cx),
        }
    }
    Container { krate, default: serde::of(attributes).default.map(|default| default.at) }
}

/// A variant has no `#[message(…)]` of its own.
pub(super) fn variant(attributes: &[Attribute], cx: &mut Diagnostics) {
    for words in lists(attributes, "message", cx) {
        misplaced(&words, "a field of the variant", cx);
    }
}

fn misplaced(words: &TokenStream, wanted: &str, cx: &mut Diagnostics) {
    let text = words.to_string().replace(' ', "");
    cx.report(
        &rules::MESSAGE_ATTRIBUTE,
        At::tokens(words),
        format_args!("`#[message({text})]` says nothing here"),
        format_args!("put it on {wanted}"),
    );
}

/// The mark of a field. A second one is reported at its place, and the first counts.
pub(super) fn field(name: &str, attributes: &[Attribute], cx: &mut Diagnostics) -> Option<Mark> {
    let mut found: Option<Mark> = None;
    for words in lists(attributes, "message", cx) {
        let Some(mark) = mark(&words, cx) else { continue };
        match &found {
            None => found = Some(mark),
            Some(first) if first.role == mark.role => cx.report(
                &rules::MESSAGE_ATTRIBUTE,
                mark.at,
                format_args!("`{name}` is marked as `{}` twice", mark.role.word()),
                format_args!("keep one of them"),
            ),
            Some(first) => cx.report(
                &rules::MESSAGE_ATTRIBUTE,
                mark.at,
                format_args!("`{name}` cannot be both `{}` and `{}`", first.role.word(), mark.role.word()),
                format_args!("keep the one that is true of it; none of them is part of the payload"),
            ),
        }
    }
    found
}

fn mark(words: &TokenStream, cx: &mut Diagnostics) -> Option<Mark> {
    let at = At::tokens(words);
    let tokens: Vec<TokenTree> = words.clone().into_iter().collect();
    let text = words.to_string().replace(' ', "");
    let help = match &tokens[..] {
        [TokenTree::Ident(word)] => {
            let word = word.to_string();
            if let Some(role) = Role::MARKS.into_iter().find(|role| role.word() == word) {
                return Some(Mark { role, at });
            }
            nearest(&word, Role::MARKS.map(Role::word)).map(|near| format!("write `#[message({near})]`"))
        }
        [TokenTree::Ident(word), ..] if Role::MARKS.into_iter().any(|role| word == role.word()) => {
            Some(format!("write `#[message({word})]`; it takes no value"))
        }
        _ => None,
    };
    cx.report(
        &rules::MESSAGE_ATTRIBUTE,
        at,
        format_args!("`#[message({text})]` marks nothing"),
        help.unwrap_or_else(|| format!("a field can be marked with {}", list(Role::MARKS.map(Role::word)))),
    );
    None
}

/// What stands in each `#[name(…)]`, split at its commas.
fn lists(attributes: &[Attribute], name: &str, cx: &mut Diagnostics) -> Vec<TokenStream> {
    let mut words = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        match &attribute.meta {
            Meta::List(list) if !list.tokens.is_empty() => words.extend(split_commas(list.tokens.clone())),
            meta => cx.report(
                &rules::MESSAGE_ATTRIBUTE,
                At::tokens(&path(meta)),
                format_args!("`#[{name}]` without a word in parentheses marks nothing"),
                format_args!("write what the field is: `#[{name}(id)]`"),
            ),
        }
    }
    words
}

fn path(meta: &Meta) -> Option<&Ident> {
    meta.path().get_ident()
}

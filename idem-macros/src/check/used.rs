//! Which arguments the work makes use of: those go into its future, in an order that keeps the order in which they are dropped.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;

use super::key::Keys;
use super::names::Names;
use super::options::{Options, StoreOption};
use crate::item::{ArgumentKind, Item};
use crate::names;
use crate::place::Root;
use crate::shape::Shape;
use crate::tokens::is_punct;

/// The bindings in the order in which they were declared, `self` first.
pub(super) fn bindings(
    options: &Options,
    item: &Item,
    shape: &Shape,
    names: &Names,
    keys: &Keys,
) -> Vec<Ident> {
    let body = match shape {
        Shape::Sync => return Vec::new(),
        Shape::Async => item.body.stream(),
        Shape::Future(future) => match &future.rebinding {
            Some(rebinding) => rebinding.work.stream(),
            None => return Vec::new(),
        },
    };
    let mut mentioned = Vec::new();
    mentions(body, &mut mentioned);
    if let StoreOption::In(store) = &options.store {
        mentions(store.clone(), &mut mentioned);
    }
    let places =
        keys.places.iter().map(|read| &read.place).chain(options.payload.iter().map(|(place, _)| place));
    for place in places {
        match &place.root {
            Root::Name(name) => mentioned.push(name.unraw().to_string()),
            Root::This => mentioned.push("self".to_owned()),
            Root::OfType(_) => {}
        }
    }
    let is_used = |name: &Ident| {
        let name = name.unraw().to_string();
        name.starts_with('_') || mentioned.contains(&name)
    };
    let mut used: Vec<Ident> = Vec::new();
    for name in declared(item, shape, names) {
        if is_used(&name) && !used.contains(&name) {
            used.push(name);
        }
    }
    used
}

/// All that the work could own, in the order of its declaration. An argument that `#[cfg]` may remove is not ours to mention.
fn declared(item: &Item, shape: &Shape, names: &Names) -> Vec<Ident> {
    if let Shape::Future(_) = shape {
        return names.this.iter().chain(&names.bindings).cloned().collect();
    }
    let mut declared = Vec::new();
    for (at, argument) in item.arguments.iter().enumerate() {
        if argument.helper.is_some() || !argument.cfgs.is_empty() {
            continue;
        }
        if is_ignored(&argument.kind) {
            declared.push(names::ignored(at));
        } else {
            declared.extend(argument.bindings().iter().cloned());
        }
    }
    declared
}

/// Collects the names in `tokens`, also those inside of format strings. A name after a dot is a field.
fn mentions(tokens: TokenStream, names: &mut Vec<String>) {
    let mut after_dot = false;
    for token in tokens {
        let dot = is_punct(&token, '.');
        match token {
            TokenTree::Ident(ident) if !after_dot => names.push(ident.unraw().to_string()),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.contains('{') {
                    let words = text.split(|char: char| !char.is_alphanumeric() && char != '_');
                    names.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
                }
            }
            TokenTree::Group(group) => mentions(group.stream(), names),
            _ => {}
        }
        // `..n` is a range, not a field.
        after_dot = dot && !after_dot;
    }
}

/// Whether an argument is written `_`.
pub(crate) fn is_ignored(kind: &ArgumentKind) -> bool {
    match kind {
        ArgumentKind::Typed { pattern, .. } => {
            let mut tokens = pattern.clone().into_iter();
            matches!((tokens.next(), tokens.next()), (Some(token), None) if token.to_string() == "_")
        }
        _ => false,
    }
}

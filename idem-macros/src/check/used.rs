//! Which arguments the work makes use of: those go into its future, in an order that keeps the order in which they are dropped.

use proc_macro2::Ident;
use syn::ext::IdentExt;

use super::key::Keys;
use super::names::Names;
use super::options::{Options, StoreOption};
use crate::item::{ArgumentKind, Item};
use crate::lexemes::{Lexeme, Lexemes};
use crate::names;
use crate::place::Root;
use crate::shape::Shape;

/// The bindings in the order in which they were declared, `self` first.
pub(super) fn bindings(
    options: &Options,
    item: &Item,
    shape: &Shape,
    names: &Names,
    keys: &Keys,
) -> Vec<Ident> {
    let work;
    let body = match shape {
        Shape::Sync => return Vec::new(),
        Shape::Async => item.text(),
        Shape::Future(future) => match &future.rebinding {
            Some(rebinding) => {
                work = rebinding.work.stream().to_string();
                &work
            }
            None => return Vec::new(),
        },
    };
    let mut declared: Vec<Declared> = Vec::new();
    for name in all_declared(item, shape, names) {
        if !declared.iter().any(|other| other.name == name) {
            declared.push(Declared::of(name));
        }
    }
    mentions(body, &mut declared);
    if let StoreOption::In(store) = &options.store {
        mentions(&store.to_string(), &mut declared);
    }
    let places =
        keys.places.iter().map(|read| &read.place).chain(options.payload.iter().map(|(place, _)| place));
    for place in places {
        match &place.root {
            Root::Name(name) => mention(&name.unraw().to_string(), &mut declared),
            Root::This => mention("self", &mut declared),
            Root::OfType(_) => {}
        }
    }
    declared.retain(|name| name.is_used);
    declared.into_iter().map(|name| name.name).collect()
}

/// A name that the work could own.
struct Declared {
    name: Ident,
    text: String,
    is_used: bool,
}

impl Declared {
    fn of(name: Ident) -> Self {
        let text = name.unraw().to_string();
        let is_used = text.starts_with('_');
        Self { name, text, is_used }
    }
}

/// All that the work could own, in the order of its declaration. An argument that `#[cfg]` may remove is not ours to mention.
fn all_declared(item: &Item, shape: &Shape, names: &Names) -> Vec<Ident> {
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

/// Takes down which of the names are in `text`, also inside of format strings. A name after a dot is a field.
fn mentions(text: &str, declared: &mut [Declared]) {
    let mut after_dot = false;
    for lexeme in Lexemes::of(text) {
        let mut dot = false;
        match lexeme {
            Lexeme::Word(word) if !after_dot => mention(word, declared),
            Lexeme::Literal(literal) if literal.contains('{') => {
                let words = literal.split(|char: char| !char.is_alphanumeric() && char != '_');
                words.for_each(|word| mention(word, declared));
            }
            Lexeme::Sign(sign) => dot = sign == b'.',
            _ => {}
        }
        // `..n` is a range, not a field.
        after_dot = dot && !after_dot;
    }
}

fn mention(word: &str, declared: &mut [Declared]) {
    for name in declared {
        if name.text == word {
            name.is_used = true;
        }
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

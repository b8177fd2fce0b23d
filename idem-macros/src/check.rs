//! From what was written to what it means. Every mistake is found here, and all are reported.

use proc_macro2::TokenStream;

use crate::args::Args;
use crate::diagnostics::Diagnostics;
use crate::item::{Item, NotAFunction};
use crate::model::Function;
use crate::paths::Paths;
use crate::shape::Shape;

mod body;
mod exceptions;
mod facts;
mod future;
mod item;
mod key;
mod key_names;
mod names;
mod options;
mod outside;
mod proof;
mod scope;
mod signature;
mod tx;
mod unwrap;
mod used;
mod windows;

pub(crate) use item::simple_name;
pub(crate) use outside::{Mistaken, key as key_outside};
pub(crate) use used::is_ignored;

/// Reports that the item is no function, or one without a body.
pub(crate) fn not_a_function(item: &NotAFunction, cx: &mut Diagnostics) {
    item::not_a_function(item, cx);
}

/// The function as it is meant; `None` if something was reported.
pub(crate) fn function(args: &Args, item: Item, cx: &mut Diagnostics) -> Option<Function> {
    let options = options::read(args, cx);
    let shape = Shape::of(&item);
    let names = names::Names::of(&item, &shape);

    item::qualifiers(&item, cx);
    item::once(&item, cx);
    let tracked = item::is_tracked(&item, &shape, cx);
    signature::helpers(&item, &options, cx);
    let answer = signature::answer(&item, &shape, cx);
    let key = key::templates(&options, &item, &names, cx);
    future::rebinding(&shape, &key, &names, cx);
    let (proofs, payload) = proof::all(&options, &item, &names, &key, cx);
    let scope = scope::of(&options, &item, cx);
    let settings = windows::settings(&options, cx);
    let transaction = tx::transaction(&options, &item, &shape, &names, cx);
    let mut allowed = body::check(&item, &options, cx);
    allowed.extend(tx::left_out(&options, &item, &key, cx));
    exceptions::unused(&options, &key, &allowed, cx);
    if !cx.is_empty() {
        return None;
    }

    let (answer, answer_is_opaque) = answer?;
    let identity = scope::identity(&options, &item);
    let facts = facts::all(&options, &item, &names, &key);
    let messages = facts::messages(&options, &item, &names, &key);
    let used = used::bindings(&options, &item, &shape, &names, &key);
    Some(Function {
        paths: Paths::to(options.krate.as_ref()),
        shape,
        tracked,
        scope,
        settings,
        declared: options.declared(),
        templates: key.templates,
        proofs,
        facts,
        identity,
        store: options.store.model(),
        transaction,
        payload,
        messages,
        final_error: options.final_error.clone(),
        answer,
        answer_is_opaque,
        used,
        item,
    })
}

/// Whether an identifier looks like a type parameter of an impl block, which the macro cannot see: `T`, `K`, `M1`.
fn looks_generic(name: &str) -> bool {
    name.len() <= 2
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit())
}

/// Whether tokens mention something that an item inside of the function cannot: `Self`, or a type or const parameter.
fn mentions_generics(tokens: TokenStream, item: &Item) -> bool {
    crate::tokens::any_ident(tokens, &mut |ident| {
        ident == "Self"
            || item.types.contains(ident)
            || item.consts.iter().any(|(name, _)| name == ident)
            || looks_generic(&ident.to_string())
    })
}

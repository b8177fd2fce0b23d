//! A place that calls a method is read the same on every attempt: the compiler proves it, or a person vouches for it.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

use super::exceptions::{self, Reader};
use super::key::{Keys, root, unknown_root};
use super::key_names::surely_per_delivery;
use super::names::Names;
use super::options::Options;
use super::{looks_generic, mentions_generics, unwrap};
use crate::diagnostics::{At, Diagnostics};
use crate::item::{Argument, ArgumentKind, Item};
use crate::known;
use crate::model::Proof;
use crate::names;
use crate::place::{Place, Root};
use crate::rules;
use crate::tokens::{any_ident, unwrapped};

/// The proofs of all places of the key and the payload, and the expressions that read the payload.
pub(super) fn all(
    options: &Options,
    item: &Item,
    names: &Names,
    keys: &Keys,
    cx: &mut Diagnostics,
) -> (Vec<Proof>, Vec<TokenStream>) {
    let mut proofs = Vec::new();
    let mut seen = BTreeSet::new();
    let mut prove = |place: &Place, at: At, span: Span, cx: &mut Diagnostics| {
        if place.calls() && !options.trusts(place) && seen.insert(place.to_string()) {
            match of(place, span, item, names) {
                Some(found) => proofs.extend(found),
                None => unproved(place, None, at, cx),
            }
        }
    };
    for read in &keys.places {
        prove(&read.place, read.span.into(), read.span, cx);
    }
    let mut payload = Vec::new();
    for (place, tokens) in &options.payload {
        let at = At::tokens(tokens);
        let span = tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
        if exceptions::per_attempt(
            tokens,
            Some((place, options)),
            Reader::Payload,
            names.example().as_deref(),
            at,
            cx,
        ) {
            continue;
        }
        if let Some(is) = surely_per_delivery(place)
            && !options.trusts(place)
            && !options.allows(&rules::PAYLOAD_PER_ATTEMPT)
        {
            cx.report(
                &rules::PAYLOAD_PER_ATTEMPT,
                at,
                format_args!("`{place}` in the payload {is}"),
                format_args!("leave it out: compare what the publisher sent"),
            );
            continue;
        }
        if unwrap::unwraps(place, options, Reader::Payload, at, cx) {
            continue;
        }
        match root(place, names, span) {
            Some(root) => {
                payload.push(place.read(&root, span));
                prove(place, at, span, cx);
            }
            None => unknown_root(place, &place.to_string(), item, names, span, cx),
        }
    }
    (proofs, payload)
}

/// A method that neither the compiler nor a person speaks for. `named` says how its type could be named, if that can be done.
pub(super) fn unproved(place: &Place, named: Option<&str>, at: At, cx: &mut Diagnostics) {
    // An option of its own: inside of the key it would be text.
    let trust = format!("`…, trust({place}, reason = \"…\")` after the key");
    let last = place.methods().last().map(ToString::to_string).unwrap_or_default();
    let help = match place.without_last_call() {
        Some(inner) if known::is_conversion(&last) => {
            format!(
                "read the value itself, `<{inner}>`, or say why the method is the same on every attempt: {trust}"
            )
        }
        _ => match named {
            Some(named) => format!(
                "name the type, and the compiler proves it of a `const fn`: `{named}`; or say why it is the same: {trust}"
            ),
            None => format!("if it is the same on every attempt, say why: {trust}"),
        },
    };
    cx.report(
        &rules::KEY_UNPROVED,
        at,
        format_args!(
            "`<{place}>` calls `{last}`, and nothing proves that it gives the same on every attempt"
        ),
        help,
    );
}

/// The functions that prove a place: one for each argument of its root's name, as `#[cfg]` can leave any of them. `None` if no
/// function can be written whose being `const` would be a proof.
fn of(place: &Place, span: Span, item: &Item, names: &Names) -> Option<Vec<Proof>> {
    let Root::Name(name) = &place.root else { return None };
    if place.methods().any(|method| known::is_never_const(&method.to_string())) {
        return None;
    }
    let root = names.argument(name)?;
    let proofs: Vec<Proof> = item
        .given()
        .filter(|argument| argument.bindings().contains(root))
        .map(|argument| one(place, span, root, argument, item))
        .collect::<Option<_>>()?;
    (!proofs.is_empty()).then_some(proofs)
}

fn one(place: &Place, span: Span, root: &Ident, argument: &Argument, item: &Item) -> Option<Proof> {
    let ArgumentKind::Typed { pattern, ty, bindings } = &argument.kind else { return None };
    let ty = unwrapped(ty.clone());
    let unnameable = any_ident(ty.clone(), &mut |ident| {
        let own = item.types.contains(ident) || item.consts.iter().any(|(name, _)| name == ident);
        ident == "Self" || ident == "impl" || ident == "for" || (looks_generic(&ident.to_string()) && !own)
    });
    // What a type parameter calls is a trait's, and no trait has a `const fn`.
    if unnameable || place.begins_with_a_call() && is_a_parameter(&ty, item) {
        return None;
    }
    let site = names::site();
    let generic = mentions_generics(ty.clone(), item);
    let mut lifetimes = crate::tokens::lifetimes(&ty);
    let (generics, where_clause) = if generic {
        let of_self = |tokens: &TokenStream| any_ident(tokens.clone(), &mut |ident| ident == "Self");
        if of_self(&item.generics) || of_self(&item.where_clause) {
            return None;
        }
        let declared = crate::tokens::lifetimes(&item.generics);
        lifetimes.retain(|lifetime| !declared.contains(lifetime));
        (item.generics.clone(), item.where_clause.clone())
    } else {
        (TokenStream::new(), TokenStream::new())
    };
    let lifetimes = lifetimes.iter().map(|name| syn::Lifetime::new(name, site));
    let mut reads = vec![place.read(&dereferenced(root, span), span)];
    if super::simple_name(pattern).is_none() {
        // A pattern may bind a reference, on which another method of the name can be found. Both have to be `const`.
        reads.push(place.read(&super::names::shown_at(root, span), span));
    }
    Some(Proof {
        cfgs: argument.cfgs.clone(),
        generics: quote_spanned!(site=> #(#lifetimes,)* #generics),
        where_clause,
        pattern: by_reference(pattern.clone()),
        ty,
        reads,
        others: bindings.iter().filter(|name| *name != root).cloned().collect(),
    })
}

/// Whether a type is one of the function's type parameters, by value or by reference.
fn is_a_parameter(ty: &TokenStream, item: &Item) -> bool {
    match syn::parse2::<syn::Type>(ty.clone()) {
        Ok(syn::Type::Reference(reference)) => is_a_parameter(&reference.elem.to_token_stream(), item),
        Ok(syn::Type::Path(path)) => path.path.get_ident().is_some_and(|name| item.types.contains(name)),
        _ => false,
    }
}

/// The argument itself, out of the reference to it that a proof gets: a method is found on it as it is found for the key, and
/// one that is missing is reported once, as both reports are the same.
pub(super) fn dereferenced(root: &Ident, span: Span) -> TokenStream {
    let root = super::names::shown_at(root, span);
    quote_spanned!(names::site_at(span)=> (*#root))
}

/// A pattern for a reference to what it was written for: without `mut` and `ref`.
fn by_reference(pattern: TokenStream) -> TokenStream {
    pattern
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Ident(ident) if ident == "mut" || ident == "ref" => None,
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), by_reference(group.stream()));
                inner.set_span(group.span());
                Some(TokenTree::Group(inner))
            }
            other => Some(other),
        })
        .collect()
}

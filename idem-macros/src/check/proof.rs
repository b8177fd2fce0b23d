//! A place that calls a method is read the same on every attempt: the compiler proves it, or a person vouches for it.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote_spanned;

use super::key::{Keys, root, unknown_root};
use super::names::Names;
use super::options::Options;
use super::{looks_generic, mentions_generics};
use crate::diagnostics::{At, Diagnostics};
use crate::item::{Argument, ArgumentKind, Item};
use crate::known;
use crate::model::Proof;
use crate::names;
use crate::place::{Place, Root};
use crate::rules;
use crate::tokens::{any_ident, unwrapped};

impl Options {
    /// Whether a person vouches for the place.
    pub(super) fn trusts(&self, place: &Place) -> bool {
        let place = place.to_string();
        self.trusts.iter().any(|trust| trust.place.to_string() == place)
    }
}

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
                None => unproved(place, at, cx),
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
        if let Some((mention, family)) = known::per_attempt(tokens).filter(|_| !options.trusts(place)) {
            cx.report(
                &rules::KEY_PER_ATTEMPT,
                at,
                format_args!(
                    "`{mention}` in the payload gives {}, another one on every attempt",
                    family.gives
                ),
                family.instead,
            );
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
    for trust in &options.trusts {
        let text = trust.place.to_string();
        let used =
            keys.places.iter().map(|read| &read.place).chain(options.payload.iter().map(|(place, _)| place));
        // With a broken key, nothing can be said about what it would have read.
        if cx.is_empty() && !used.into_iter().any(|place| place.calls() && place.to_string() == text) {
            cx.report(
                &rules::TRUST_UNUSED,
                trust.at,
                format_args!("`{text}` is trusted, but the key calls no such method"),
                format_args!("write the place as the key has it, or remove the `trust`"),
            );
        }
    }
    (proofs, payload)
}

fn unproved(place: &Place, at: At, cx: &mut Diagnostics) {
    cx.report(
        &rules::KEY_UNPROVED,
        at,
        format_args!("`<{place}>` calls a method that idem cannot look into"),
        format_args!("if it gives the same on every attempt, say why: `trust({place}, reason = \"…\")`"),
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
    if unnameable {
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
    Some(Proof {
        cfgs: argument.cfgs.clone(),
        generics: quote_spanned!(site=> #(#lifetimes,)* #generics),
        where_clause,
        pattern: by_reference(pattern.clone()),
        ty,
        read: place.read(&super::names::shown_at(root, span), span),
        others: bindings.iter().filter(|name| *name != root).cloned().collect(),
    })
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

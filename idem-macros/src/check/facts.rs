//! What the type of an argument says about a key: asked by the compiler in a `const`, as the macro sees no types.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use super::key::Keys;
use super::mentions_generics;
use super::names::Names;
use super::options::Options;
use crate::diagnostics;
use crate::item::{Argument, ArgumentKind, Item};
use crate::model::{FactCheck, MaybeMessage, TypedField};
use crate::names;
use crate::place::{Place, Root};
use crate::rules;
use crate::tokens::{any_ident, is_ident, is_punct, split_commas, unwrapped};

/// One check for each template that reads a field of an argument.
pub(super) fn all(options: &Options, item: &Item, names: &Names, keys: &Keys) -> Vec<FactCheck> {
    let mut checks = Vec::new();
    for template in 0..keys.templates.len() {
        let read = keys.places.iter().filter(|read| read.template == template);
        let read = read.filter_map(|read| Some((&read.place, read.span, argument(&read.place, names)?)));
        let mut per_delivery = Vec::new();
        let mut identity = Vec::new();
        let (mut all_typed, mut generic, mut at) = (true, false, None);
        for (place, span, root) in read {
            let typed = place.first_field().zip(type_of(root, item));
            let Some((field, ty)) = typed else {
                all_typed = false;
                continue;
            };
            at = Some(span);
            generic |= mentions_generics(ty.clone(), item);
            let field = TypedField { ty: without_lifetimes(ty), field };
            if !options.allows(&rules::FACTS_PER_DELIVERY) {
                let text = diagnostics::text(
                    &rules::FACTS_PER_DELIVERY,
                    &format_args!(
                        "`<{place}>` in the key is another one at each delivery, as its message says"
                    ),
                    &"read the field that its message marks as `#[message(id)]` or `#[message(event)]`",
                );
                per_delivery.push((field.clone(), text));
            }
            identity.push(field);
        }
        let told = keys.named.iter().filter(|field| field.template == template);
        let told: Vec<_> = told.map(|field| (field.field.clone(), field.text.clone())).collect();
        let enough = keys.enough.iter().find(|(of, ..)| *of == template);
        let enough = enough.map(|(_, fields, text)| (fields.clone(), text.clone()));
        let Some(at) = at else { continue };
        let may_lack = options.allows(&rules::FACTS_NO_IDENTITY) || options.once_per.is_some();
        let identity = (all_typed && !may_lack).then(|| {
            let text = diagnostics::text(
                &rules::FACTS_NO_IDENTITY,
                &"the key does not read the identity of its message",
                &"read the field that its message marks as `#[message(id)]` or `#[message(event)]`; if one effect per entity is meant, say so: `once_per = \"…\"`",
            );
            (identity, text)
        });
        if identity.is_some() || enough.is_some() || !per_delivery.is_empty() || !told.is_empty() {
            checks.push(FactCheck { generic, at, per_delivery, named: told, identity, enough });
        }
    }
    checks
}

/// The field that a place reads first, if `cargo check` can ask its type what it is.
pub(super) fn asked(place: &Place, item: &Item, names: &Names) -> Option<TypedField> {
    let ty = type_of(argument(place, names)?, item)?;
    let field = place.first_field()?;
    (!mentions_generics(ty.clone(), item)).then(|| TypedField { ty: without_lifetimes(ty), field })
}

/// The arguments that the key reads from, by the tokens that bind them: each may be a message, whose payload is compared.
pub(super) fn messages(options: &Options, item: &Item, names: &Names, keys: &Keys) -> Vec<MaybeMessage> {
    let mut messages: Vec<MaybeMessage> = Vec::new();
    // Where a key is no identity, several messages are meant to share it.
    let shared = options.once_per.is_some()
        || [&rules::FACTS_NO_IDENTITY, &rules::KEY_PAYLOAD_ONLY].iter().any(|rule| options.allows(rule));
    if options.payload_is_said || shared {
        return messages;
    }
    for read in &keys.places {
        let Some(root) = argument(&read.place, names) else { continue };
        let mut declared = item.given().filter(|argument| argument.bindings().contains(root));
        let certain = declared.clone().all(|argument| argument.cfgs.is_empty());
        if !certain || names.is_simple(root) || messages.iter().any(|known| known.name == *root) {
            continue;
        }
        // What is in a wrapper may be of another type than the wrapper's parameter: only a fact is asked of that.
        let bare = declared.all(|argument| match &argument.kind {
            ArgumentKind::Typed { pattern, .. } => super::simple_name(pattern).is_some(),
            _ => false,
        });
        let ty = if bare { type_of(root, item) } else { None };
        messages.push(MaybeMessage { name: root.clone(), ty });
    }
    messages
}

/// The argument that a place begins with; not `self`, nor a constant.
fn argument<'n>(place: &Place, names: &'n Names) -> Option<&'n Ident> {
    match &place.root {
        Root::Name(name) => names.argument(name),
        Root::This | Root::OfType(_) => None,
    }
}

/// The type of what a name is bound to, if it can be written in an expression: of the argument itself, or of what is in a wrapper, as
/// `Payment` for `Json(payment): Json<Payment>`.
fn type_of(root: &Ident, item: &Item) -> Option<TokenStream> {
    let mut declared = item.given().filter(|argument| argument.bindings().contains(root));
    let (Some(Argument { cfgs, kind: ArgumentKind::Typed { pattern, ty, .. }, .. }), None) =
        (declared.next(), declared.next())
    else {
        return None;
    };
    let ty = unwrapped(ty.clone());
    let unnameable = any_ident(ty.clone(), &mut |ident| ident == "impl" || ident == "for");
    if unnameable || !cfgs.is_empty() {
        return None;
    }
    let pattern: Vec<TokenTree> =
        pattern.clone().into_iter().filter(|token| !is_ident(token, "mut")).collect();
    match &pattern[..] {
        [TokenTree::Ident(name)] if name == root => Some(ty),
        [.., TokenTree::Ident(_), TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
            let inner: Vec<TokenTree> =
                group.stream().into_iter().filter(|token| !is_ident(token, "mut")).collect();
            match &inner[..] {
                [TokenTree::Ident(name)] if name == root => only_argument(&ty),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `T` of `path::Wrapper<T>`.
fn only_argument(ty: &TokenStream) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = ty.clone().into_iter().collect();
    let open = tokens.iter().position(|token| is_punct(token, '<'))?;
    let (close, inner) = tokens[open + 1..].split_last()?;
    if !is_punct(close, '>') {
        return None;
    }
    match &split_commas(inner.iter().cloned().collect())[..] {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// A type with each lifetime left to the compiler, as an item inside of the function knows none of the function's own.
fn without_lifetimes(ty: TokenStream) -> TokenStream {
    let mut quote = false;
    ty.into_iter()
        .map(|token| {
            let lifetime = quote;
            quote = is_punct(&token, '\'');
            match token {
                TokenTree::Ident(name) if lifetime && name != "static" => {
                    TokenTree::Ident(Ident::new("_", names::site_at(name.span())))
                }
                TokenTree::Group(group) => {
                    let mut inner =
                        proc_macro2::Group::new(group.delimiter(), without_lifetimes(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                other => other,
            }
        })
        .collect()
}

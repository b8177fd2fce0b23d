//! `#[serde(…)]`, as far as it decides what an identity is after a parse, and what of a payload is sent.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{Attribute, LitStr, Meta, Path};

use crate::tokens::{is_punct, split_commas};

/// What serde is told about a field, a variant or a type.
#[derive(Default)]
pub(super) struct Serde {
    pub(super) default: Option<Filler>,
    /// `skip` or `skip_deserializing`: it is not read from what was sent.
    pub(super) skip: Option<(Span, &'static str)>,
    pub(super) flatten: Option<Span>,
    /// Its name when it is written.
    pub(super) rename: Option<String>,
    /// The function that writes it, if not its own `Serialize`.
    pub(super) with: Option<Path>,
    pub(super) skip_if: Option<Path>,
}

/// What serde puts where nothing was sent.
pub(super) struct Filler {
    pub(super) at: Span,
    /// The function that makes it; `None` for `Default`.
    pub(super) function: Option<String>,
}

/// What the attributes say. What cannot be read is left to serde, which reports it.
pub(super) fn of(attributes: &[Attribute]) -> Serde {
    let mut serde = Serde::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        if let Meta::List(list) = &attribute.meta {
            for item in split_commas(list.tokens.clone()) {
                one(item, &mut serde);
            }
        }
    }
    serde
}

fn one(item: TokenStream, serde: &mut Serde) {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    let [TokenTree::Ident(word), rest @ ..] = &tokens[..] else { return };
    let at = word.span();
    let value = match rest {
        [equals, value] if is_punct(equals, '=') => {
            syn::parse2::<LitStr>(value.clone().into()).ok().map(|text| text.value())
        }
        _ => None,
    };
    match word.to_string().as_str() {
        "default" => serde.default = Some(Filler { at, function: value }),
        "skip" => serde.skip = Some((at, "skip")),
        "skip_deserializing" => serde.skip = Some((at, "skip_deserializing")),
        "flatten" => serde.flatten = Some(at),
        "rename" => serde.rename = value.or_else(|| serialized(rest)),
        "with" => {
            serde.with = value.and_then(|module| syn::parse_str(&format!("{module}::serialize")).ok());
        }
        "serialize_with" => serde.with = value.and_then(|path| syn::parse_str(&path).ok()),
        "skip_serializing_if" => serde.skip_if = value.and_then(|path| syn::parse_str(&path).ok()),
        _ => {}
    }
}

/// The name in `rename(serialize = "…")`.
fn serialized(rest: &[TokenTree]) -> Option<String> {
    let [TokenTree::Group(group)] = rest else { return None };
    split_commas(group.stream()).into_iter().find_map(|item| {
        let tokens: Vec<TokenTree> = item.into_iter().collect();
        match &tokens[..] {
            [word, equals, value] if word.to_string() == "serialize" && is_punct(equals, '=') => {
                syn::parse2::<LitStr>(value.clone().into()).ok().map(|text| text.value())
            }
            _ => None,
        }
    })
}

//! The type as it was written. By now the compiler has taken out what `#[cfg]` leaves out.

use proc_macro2::TokenStream;
use syn::{Attribute, Fields, Generics, Ident, Variant};

/// A struct, an enum or a union.
pub(super) struct Item {
    pub(super) name: Ident,
    pub(super) generics: Generics,
    pub(super) attributes: Vec<Attribute>,
    pub(super) body: Body,
}

pub(super) enum Body {
    Struct(Fields),
    Enum(Vec<Variant>),
    Union,
}

impl Item {
    pub(super) fn parse(input: TokenStream) -> syn::Result<Self> {
        match syn::parse2(input)? {
            syn::Item::Struct(item) => Ok(Self {
                name: item.ident,
                generics: item.generics,
                attributes: item.attrs,
                body: Body::Struct(item.fields),
            }),
            syn::Item::Enum(item) => Ok(Self {
                name: item.ident,
                generics: item.generics,
                attributes: item.attrs,
                body: Body::Enum(item.variants.into_iter().collect()),
            }),
            syn::Item::Union(item) => Ok(Self {
                name: item.ident,
                generics: item.generics,
                attributes: item.attrs,
                body: Body::Union,
            }),
            other => Err(syn::Error::new_spanned(other, "not a type")),
        }
    }
}

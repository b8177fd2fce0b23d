//! `#[derive(Message)]`: what the fields of a message are, as facts that `#[idempotent]` asks for.
//!
//! The type as it was written becomes a list of shapes, a struct's one or an enum's variants ([`fields`]); each is judged
//! ([`check`]), and the implementation written ([`expand`]). After a mistake there is one too, which knows nothing.

use proc_macro2::TokenStream;
use syn::{Attribute, Fields, Generics, Ident, Item};

use crate::diagnostics::{At, Diagnostics};
use crate::paths::Paths;
use crate::rules;

mod attributes;
mod check;
mod expand;
mod fields;
mod serde;

use fields::Shape;

/// The type, whatever kind of item it is.
struct Source {
    name: Ident,
    generics: Generics,
    attributes: Vec<Attribute>,
    /// `None` for a union.
    shapes: Option<Vec<Written>>,
}

/// A struct's fields, or the name, attributes and fields of a variant.
type Written = (Option<Ident>, Vec<Attribute>, Fields);

impl Source {
    fn of(item: Item) -> Option<Self> {
        match item {
            Item::Struct(item) => Some(Self {
                name: item.ident,
                generics: item.generics,
                attributes: item.attrs,
                shapes: Some(vec![(None, Vec::new(), item.fields)]),
            }),
            Item::Enum(item) => {
                let variants = item.variants.into_iter();
                let shapes = variants.map(|variant| (Some(variant.ident), variant.attrs, variant.fields));
                Some(Self {
                    name: item.ident,
                    generics: item.generics,
                    attributes: item.attrs,
                    shapes: Some(shapes.collect()),
                })
            }
            Item::Union(item) => {
                Some(Self { name: item.ident, generics: item.generics, attributes: item.attrs, shapes: None })
            }
            _ => None,
        }
    }
}

/// The implementation of `Message`, with every mistake beside it.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let mut cx = Diagnostics::default();
    let source = match syn::parse2(item) {
        Ok(item) => Source::of(item),
        Err(error) => return error.into_compile_error(),
    };
    // A derive stands on nothing else.
    let Some(source) = source else { return TokenStream::new() };
    let container = attributes::container(&source.attributes, &mut cx);
    let paths = Paths::to(container.krate.as_ref());
    let shapes = shapes(&source, &container, &mut cx);
    if cx.is_empty() {
        return expand::implementation(&source.name, &source.generics, &shapes, &paths);
    }
    // One that knows nothing, so that what uses the type is not blamed too.
    let mut out = cx.into_tokens();
    out.extend(expand::implementation(&source.name, &source.generics, &[], &paths));
    out
}

fn shapes(source: &Source, container: &attributes::Container, cx: &mut Diagnostics) -> Vec<Shape> {
    let name = &source.name;
    let Some(written) = &source.shapes else {
        cx.report(
            &rules::MESSAGE_ITEM,
            name,
            format_args!("`{name}` is a union"),
            format_args!("derive `Message` on a struct, or on an enum with the identity in each variant"),
        );
        return Vec::new();
    };
    if written.is_empty() {
        cx.report(
            &rules::MESSAGE_ITEM,
            name,
            format_args!("`{name}` has no variants, so there is no such message"),
            format_args!("add a variant that holds the message, with its identity"),
        );
    }
    let mut shapes = Vec::new();
    for (variant, attributes, fields) in written {
        attributes::variant(attributes, cx);
        let at = variant.as_ref().unwrap_or(name);
        let shown = variant.as_ref().map_or_else(|| name.to_string(), |variant| format!("{name}::{variant}"));
        if fields.is_empty() {
            cx.report(
                &rules::MESSAGE_ITEM,
                At::from(at),
                format_args!("`{shown}` has no fields, so nothing tells one such message from another"),
                if variant.is_some() {
                    format!("give it the publisher's id: `{at} {{ #[message(id)] id: String }}`")
                } else {
                    format!("give it the publisher's id: `struct {name} {{ #[message(id)] id: String }}`")
                },
            );
            continue;
        }
        let shape = Shape::read(variant.clone(), attributes, fields, container, cx);
        check::shape(&shape, at, &shown, cx);
        shapes.push(shape);
    }
    shapes
}

#[cfg(test)]
mod tests;

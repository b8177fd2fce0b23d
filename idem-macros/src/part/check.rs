//! What can be a part. Every mistake is found here, and all are reported.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Fields, Ident, LitStr, Member, Variant};

use super::item::{Body, Item};
use super::model::{Field, Form, Part};
use super::words::snake_case;
use crate::diagnostics::{At, Diagnostics};
use crate::known;
use crate::paths::Paths;
use crate::rules;
use crate::tokens::any_ident;

/// The part as it is meant; the paths alone if something was reported.
pub(super) fn part<'i>(item: &'i Item, paths: Paths, cx: &mut Diagnostics) -> Result<Part<'i>, Paths> {
    let form = match &item.body {
        Body::Struct(fields) => self::fields(item, fields, cx).map(Form::Fields),
        Body::Enum(variants) => words(item, variants, cx).map(Form::Words),
        Body::Union => {
            let name = &item.name;
            cx.report(
                &rules::PART_DATA,
                name,
                format_args!("`{name}` is a union, and nobody can tell what it holds"),
                format_args!(
                    "implement `idem::KeyPart` for `{name}` by hand, or use the id itself in the key"
                ),
            );
            None
        }
    };
    match form {
        Some(form) => Ok(Part { item, paths, form }),
        None => Err(paths),
    }
}

/// Where idem is: `#[key(crate = ::once)]`.
pub(super) fn paths(item: &Item, cx: &mut Diagnostics) -> Paths {
    let mut krate: Option<TokenStream> = None;
    for attribute in ours(&item.attributes) {
        let path = attribute.parse_args_with(|input: ParseStream<'_>| {
            input.parse::<syn::Token![crate]>()?;
            input.parse::<syn::Token![=]>()?;
            let path = input.call(syn::Path::parse_mod_style)?;
            input.parse::<Option<syn::Token![,]>>()?;
            Ok(path)
        });
        if let Ok(path) = path {
            krate = Some(path.into_token_stream());
            continue;
        }
        let help = if matches!(item.body, Body::Enum(_)) {
            "on the type, write `#[key(crate = ::once)]` if idem was renamed; texts are given to variants: `#[key(rename = \"…\")]`"
        } else {
            "on the type, write `#[key(crate = ::once)]` if idem was renamed, or nothing"
        };
        wrong_option(attribute, help, cx);
    }
    Paths::to(krate.as_ref())
}

fn fields(item: &Item, fields: &Fields, cx: &mut Diagnostics) -> Option<Vec<Field>> {
    let name = &item.name;
    for attribute in fields.iter().flat_map(|field| ours(&field.attrs)) {
        wrong_option(
            attribute,
            "remove it: every field is a part, as what is left out makes two values one",
            cx,
        );
    }
    // A marker holds nothing: it is there for the type alone.
    let parts: Vec<(usize, &syn::Field)> =
        fields.iter().enumerate().filter(|(_, field)| !is_marker(&field.ty)).collect();
    if parts.is_empty() {
        cx.report(
            &rules::PART_NOTHING,
            name,
            format_args!("`{name}` has no field to be a part of a key"),
            format_args!(
                "write its text into the key as it is, and read from the message what tells it from others"
            ),
        );
        return None;
    }
    if let (Fields::Unnamed(unnamed), [_, _, ..]) = (fields, &parts[..]) {
        let types: Vec<String> = parts.iter().map(|(_, field)| show(&field.ty)).collect();
        let named: Vec<String> =
            types.iter().zip(["first", "second"]).map(|(ty, name)| format!("{name}: {ty}")).collect();
        let more = if types.len() > 2 { ", .." } else { "" };
        cx.report(
            &rules::PART_UNNAMED,
            At::tokens(&unnamed.unnamed),
            format_args!("`{name}` has {} fields without names", types.len()),
            format_args!("give them names: `struct {name} {{ {}{more} }}`", named.join(", ")),
        );
        return None;
    }
    let field = |(at, field): (usize, &syn::Field)| {
        let ty = field.ty.to_token_stream();
        let generic = any_ident(ty.clone(), &mut |ident| {
            item.generics.type_params().any(|parameter| parameter.ident == *ident)
        });
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::from(at),
        };
        Field { member, class: known::class_of(&ty), ty, generic }
    };
    Some(parts.into_iter().map(field).collect())
}

/// `PhantomData<…>` under any path.
fn is_marker(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "PhantomData"),
        syn::Type::Group(group) => is_marker(&group.elem),
        _ => false,
    }
}

fn words(item: &Item, variants: &[Variant], cx: &mut Diagnostics) -> Option<Vec<(Ident, String)>> {
    let name = &item.name;
    if variants.is_empty() {
        cx.report(
            &rules::PART_NOTHING,
            name,
            format_args!("`{name}` has no variant to be a part of a key"),
            format_args!("read from the message what tells it from others"),
        );
        return None;
    }
    let mut words: Vec<(Ident, String)> = Vec::new();
    for variant in variants {
        let own = &variant.ident;
        for attribute in variant.fields.iter().flat_map(|field| ours(&field.attrs)) {
            wrong_option(attribute, "remove it: only variants have a text", cx);
        }
        if !matches!(variant.fields, Fields::Unit) {
            cx.report(
                &rules::PART_DATA,
                At::tokens(&variant.fields),
                format_args!("the variant `{own}` of `{name}` holds data"),
                format_args!(
                    "use the id itself in the key, or a struct of named parts with a fieldless enum for the kind: `struct {name} {{ kind: Kind, id: … }}`"
                ),
            );
        }
        let word = of_variant(variant, cx);
        let (at, word) = match word {
            Some(text) => (At::from(text.span()), text.value()),
            None => (own.into(), snake_case(&own.unraw().to_string())),
        };
        if let Some((other, _)) = words.iter().find(|(_, taken)| *taken == word) {
            cx.report(
                &rules::PART_REPEATED,
                at,
                format_args!("`{own}` has the text `{word}`, which is that of `{other}`"),
                format_args!("give one of them another text: `#[key(rename = \"…\")]`"),
            );
        }
        words.push((own.clone(), word));
    }
    Some(words)
}

/// `#[key(rename = "…")]`.
fn of_variant(variant: &Variant, cx: &mut Diagnostics) -> Option<LitStr> {
    let own = &variant.ident;
    let mut renamed: Option<LitStr> = None;
    for attribute in ours(&variant.attrs) {
        let text = attribute.parse_args_with(|input: ParseStream<'_>| {
            if input.parse::<Ident>()? != "rename" {
                return Err(input.error("not `rename`"));
            }
            input.parse::<syn::Token![=]>()?;
            let text = input.parse::<LitStr>()?;
            input.parse::<Option<syn::Token![,]>>()?;
            Ok(text)
        });
        match text {
            Ok(text) if !text.value().is_empty() && renamed.is_none() => renamed = Some(text),
            _ => {
                let word = snake_case(&own.unraw().to_string());
                wrong_option(attribute, &format!("write `#[key(rename = \"{word}\")]`, once"), cx);
            }
        }
    }
    renamed
}

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("key"))
}

fn wrong_option(attribute: &Attribute, help: &str, cx: &mut Diagnostics) {
    let at = match &attribute.meta {
        syn::Meta::List(list) if !list.tokens.is_empty() => At::tokens(&list.tokens),
        meta => meta.span().into(),
    };
    let text = show(&attribute.meta);
    cx.report(&rules::PART_OPTION, at, format_args!("`#[{text}]` means nothing here"), help);
}

/// Tokens as a person would write them, near enough.
fn show(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let mut shown = text.replace(" :: ", "::").replace(" <", "<").replace("< ", "<").replace(" >", ">");
    for (apart, together) in [(" ,", ","), ("& ", "&"), ("key (", "key("), (" (", "(")] {
        shown = shown.replace(apart, together);
    }
    shown
}

//! A key outside of attributes: its places begin with variables that the macro cannot see.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::LitStr;
use syn::ext::IdentExt;

use super::exceptions;
use super::key::{Around, Keys, OneKey};
use super::looks_generic;
use super::names::{ours_at, shown_at};
use super::options::{self, Options};
use super::proof::{dereferenced, unproved};
use crate::args::Value;
use crate::diagnostics::{At, Diagnostics};
use crate::known::{self, Class};
use crate::model::{OutsideKey, Proof, TypedField};
use crate::names;
use crate::outside::{OutsideArgs, Typed};
use crate::paths::Paths;
use crate::place::{Place, Root};
use crate::rules;
use crate::tokens::{any_ident, lifetimes};

/// What is known of a key with mistakes: where idem is, and the variables that it would read.
pub(crate) struct Mistaken {
    pub(crate) paths: Paths,
    pub(crate) read: Vec<Ident>,
}

/// The key as it is meant, unless something was reported.
pub(crate) fn key(args: &OutsideArgs, cx: &mut Diagnostics) -> Result<OutsideKey, Mistaken> {
    let options = options::of_key(&args.options, cx);
    let around = Outside { typed: &args.typed };
    let mut keys = Keys::default();
    let literals = literals(args, cx);
    for literal in &literals {
        OneKey { literal, options: &options, around: &around, cx: &mut *cx, keys: &mut keys }.check();
    }
    let proofs = proofs(&keys, &options, &around, cx);
    exceptions::unused(&options, &keys, &[], cx);
    let paths = Paths::to(options.krate.as_ref());
    if cx.is_empty() {
        return Ok(OutsideKey { paths, templates: keys.templates, proofs, typed: args.typed.clone() });
    }
    let mut read: Vec<Ident> = Vec::new();
    for place in &keys.places {
        if let Root::Name(name) = &place.place.root
            && !read.contains(name)
        {
            read.push(name.clone());
        }
    }
    Err(Mistaken { paths, read })
}

fn literals(args: &OutsideArgs, cx: &mut Diagnostics) -> Vec<LitStr> {
    let value = Value::Assigned(args.template.clone());
    let templates = value.string().map(|one| vec![one]).or_else(|| value.strings());
    match templates {
        Some(templates) if !templates.is_empty() => templates,
        _ if args.template.is_empty() => {
            cx.report(
                &rules::KEY_MISSING,
                Span::call_site(),
                format_args!("`key!` has no template"),
                format_args!("write `key!(\"order:<order.id>\")`"),
            );
            Vec::new()
        }
        _ => {
            cx.report(
                &rules::KEY_NOT_LITERAL,
                At::tokens(&args.template),
                format_args!("`key!` takes a string literal, or a list of string literals"),
                format_args!("write the template itself: `key!(\"order:<order.id>\")`"),
            );
            Vec::new()
        }
    }
}

/// Around `key!`.
struct Outside<'a> {
    typed: &'a [Typed],
}

impl Outside<'_> {
    /// The type that was named for what a place begins with.
    fn typed(&self, root: &Root) -> Option<&Typed> {
        self.typed.iter().find(|typed| match root {
            Root::This => typed.name == "self",
            Root::Name(name) => typed.name.unraw() == name.unraw(),
            Root::OfType(_) => false,
        })
    }
}

impl Around for Outside<'_> {
    fn root(&self, place: &Place, span: Span) -> Option<TokenStream> {
        if let Some(typed) = self.typed(&place.root) {
            // Read through the reference whose type was named.
            return Some(dereferenced(&typed.bound(), span));
        }
        Some(match &place.root {
            Root::This => quote_spanned!(span=> self),
            Root::OfType(path) => ours_at(path, span),
            Root::Name(name) => shown_at(name, span),
        })
    }

    fn unknown_root(&self, _: &Place, _: &str, _: Span, _: &mut Diagnostics) {
        // Which variables there are, only the compiler knows, and says so.
    }

    fn of_message(&self, place: &Place) -> bool {
        match &place.root {
            Root::This => true,
            Root::OfType(_) => false,
            // A constant is the same for every message.
            Root::Name(name) => !name.to_string().starts_with(|first: char| first.is_uppercase()),
        }
    }

    /// What the key is for is not seen.
    fn is_of_handler(&self) -> bool {
        false
    }

    fn asked(&self, _: &Place) -> Option<TypedField> {
        None
    }

    fn class(&self, place: &Place) -> Option<Class> {
        self.typed(&place.root).filter(|_| place.is_bare()).and_then(|typed| known::class_of(&typed.ty))
    }

    fn example(&self) -> Option<String> {
        self.typed.first().map(|typed| format!("{}.id", typed.name))
    }

    fn written(&self, template: &str) -> String {
        format!("key!(\"{template}\")")
    }

    fn nothing_to_name(&self, prefix: &str) -> String {
        format!("name a variable that is another one for each piece of work: `key!(\"{prefix}:<date>\")`")
    }

    fn noun(&self) -> &'static str {
        "a variable"
    }
}

/// The proofs of places that call methods: of variables whose types were named, and can be named in a function of its own.
fn proofs(keys: &Keys, options: &Options, around: &Outside<'_>, cx: &mut Diagnostics) -> Vec<Proof> {
    let mut proofs = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for read in &keys.places {
        let place = &read.place;
        let text = place.to_string();
        if !place.calls() || options.trusts(place) || seen.contains(&text) {
            continue;
        }
        seen.push(text);
        let never_const = place.methods().any(|method| known::is_never_const(&method.to_string()));
        let typed = around.typed(&place.root);
        if let Some(typed) = typed.filter(|typed| !never_const && is_nameable(&typed.ty)) {
            proofs.push(proof(place, read.span, &typed.bound(), &typed.ty));
            continue;
        }
        // A type that has a name, and that was not named, or named as `Self`.
        let named =
            (!never_const && typed.is_none_or(|typed| is_self(&typed.ty))).then(|| match &place.root {
                Root::Name(name) => format!("key!(\"…\", {name}: &Type)"),
                _ => "key!(\"…\", self: &Type)".to_owned(),
            });
        unproved(place, named.as_deref(), read.span.into(), cx);
    }
    proofs
}

fn proof(place: &Place, span: Span, bound: &Ident, ty: &TokenStream) -> Proof {
    let lifetimes = lifetimes(ty);
    let lifetimes = lifetimes.iter().map(|name| syn::Lifetime::new(name, names::site()));
    Proof {
        cfgs: TokenStream::new(),
        generics: quote_spanned!(names::site()=> #(#lifetimes,)*),
        where_clause: TokenStream::new(),
        pattern: shown_at(bound, bound.span()),
        ty: ty.clone(),
        reads: vec![place.read(&dereferenced(bound, span), span)],
        others: Vec::new(),
    }
}

/// Whether a type is written `Self`, in whatever it stands.
fn is_self(ty: &TokenStream) -> bool {
    any_ident(ty.clone(), &mut |ident| ident == "Self")
}

/// Whether a function beside the expression can name the type: it sees neither `Self` nor type parameters.
fn is_nameable(ty: &TokenStream) -> bool {
    !any_ident(ty.clone(), &mut |ident| {
        ident == "Self"
            || ident == "impl"
            || ident == "for"
            || ident == "_"
            || looks_generic(&ident.to_string())
    })
}

//! The names that a place can begin with.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

use super::looks_generic;
use crate::item::{Argument, ArgumentKind, Item};
use crate::names;
use crate::shape::Shape;

/// The names that are there when the key is computed.
pub(super) struct Names {
    /// In the order in which they were declared.
    pub(super) bindings: Vec<Ident>,
    /// `self`, by the name that it has there.
    pub(super) this: Option<Ident>,
    consts: Vec<Ident>,
    /// Those of types without fields: numbers, text.
    simple: Vec<Ident>,
}

impl Names {
    pub(super) fn of(item: &Item, shape: &Shape) -> Self {
        let mut this = item.receiver().cloned();
        let mut bindings: Vec<Ident> = item
            .given()
            .filter(|argument| !matches!(argument.kind, ArgumentKind::Receiver(_)))
            .flat_map(|argument| argument.bindings().iter().cloned())
            .collect();
        if let Shape::Future(future) = shape
            && let Some(rebinding) = &future.rebinding
        {
            for name in &rebinding.names {
                if name == "__self" {
                    this = Some(name.clone());
                } else {
                    // The newest binding of a name is the one that is seen.
                    bindings.retain(|bound| bound != name);
                    bindings.push(name.clone());
                }
            }
            bindings.retain(|name| !name.to_string().starts_with("__arg"));
        }
        let simple = item.given().filter(|argument| is_simple(argument)).flat_map(Argument::bindings);
        Self {
            bindings,
            this,
            consts: item.consts.iter().map(|(name, _)| name.clone()).collect(),
            simple: simple.cloned().collect(),
        }
    }

    /// The argument of that name, raw or not.
    pub(super) fn argument(&self, name: &Ident) -> Option<&Ident> {
        let name = name.unraw();
        self.bindings.iter().find(|bound| bound.unraw() == name)
    }

    /// Whether the argument is of a type without fields.
    pub(super) fn is_simple(&self, name: &Ident) -> bool {
        self.simple.contains(name)
    }

    /// The const parameter of that name. Those of an impl block cannot be seen; in a method, what looks like one passes.
    pub(super) fn constant<'n>(&'n self, name: &'n Ident) -> Option<&'n Ident> {
        let declared = self.consts.iter().find(|constant| *constant == name);
        declared.or_else(|| (self.this.is_some() && looks_generic(&name.to_string())).then_some(name))
    }

    /// An example of a place for messages: `message.id`, with their name, or the name alone if it stands for an id.
    pub(super) fn example(&self) -> Option<String> {
        self.bindings
            .first()
            .map(|first| if self.simple.contains(first) { first.to_string() } else { format!("{first}.id") })
    }
}

/// Whether an argument is a number, or text, or another type that can be a part by itself.
fn is_simple(argument: &Argument) -> bool {
    const SIMPLE: &[&str] = &[
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "bool",
        "char", "str", "String", "Uuid", "Ulid",
    ];
    match &argument.kind {
        ArgumentKind::Typed { ty, .. } => match ty.clone().into_iter().last() {
            Some(TokenTree::Ident(last)) => SIMPLE.iter().any(|simple| last == simple),
            _ => false,
        },
        _ => false,
    }
}

/// A copy of a binding's own token, which knows where it was bound, shown at `span`.
pub(super) fn shown_at(name: &Ident, span: Span) -> TokenStream {
    let mut name = name.clone();
    name.set_span(span.resolved_at(name.span()));
    TokenTree::Ident(name).into()
}

/// The tokens of a path, as ours, shown at `span`.
pub(super) fn ours_at(path: &TokenStream, span: Span) -> TokenStream {
    path.clone()
        .into_iter()
        .map(|mut token| {
            token.set_span(names::site_at(span));
            token
        })
        .collect()
}

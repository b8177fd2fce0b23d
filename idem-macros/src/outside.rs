//! `key!("…")`: what was written, split where it has to be looked at. What it means is found out in `check::key_outside`.

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::args::Args;
use crate::check;
use crate::diagnostics::Diagnostics;
use crate::expand;
use crate::fallback;
use crate::names;
use crate::tokens::{is_punct, split_commas};

/// The arguments of `key!`.
pub(crate) struct OutsideArgs {
    /// The template, or the list of templates.
    pub(crate) template: TokenStream,
    pub(crate) typed: Vec<Typed>,
    /// What is left: `name(…)` and `name = value`.
    pub(crate) options: Args,
}

/// `name: Type`: what a variable, or `self`, is.
#[derive(Clone)]
pub(crate) struct Typed {
    pub(crate) name: Ident,
    pub(crate) ty: TokenStream,
}

impl Typed {
    /// The reference that it is read through. Nothing can be bound to `self` anew.
    pub(crate) fn bound(&self) -> Ident {
        if self.name == "self" { names::this() } else { self.name.clone() }
    }
}

impl OutsideArgs {
    fn parse(input: TokenStream, cx: &mut Diagnostics) -> Self {
        let mut parts = split_commas(input).into_iter();
        let template = parts.next().unwrap_or_default();
        let mut typed = Vec::new();
        let mut options = TokenStream::new();
        for part in parts {
            let tokens: Vec<TokenTree> = part.clone().into_iter().collect();
            match &tokens[..] {
                [TokenTree::Ident(name), colon, ty @ ..]
                    if is_punct(colon, ':') && ty.first().is_some_and(|first| !is_punct(first, ':')) =>
                {
                    typed.push(Typed { name: name.clone(), ty: ty.iter().cloned().collect() });
                }
                _ => {
                    options.extend(part);
                    options.extend(quote::quote!(,));
                }
            }
        }
        Self { template, typed, options: Args::parse(options, cx) }
    }
}

pub(crate) fn key(input: TokenStream) -> TokenStream {
    let mut cx = Diagnostics::default();
    let args = OutsideArgs::parse(input, &mut cx);
    match check::key_outside(&args, &mut cx) {
        Ok(key) => expand::key(&key),
        Err(mistaken) => fallback::key(cx, &mistaken),
    }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn nothing_that_can_be_written_makes_the_macro_panic() {
        for input in [
            "",
            ",",
            "3",
            "\"\"",
            "\"msg\"",
            "\"msg:<a>\"",
            "\"msg:<a\"",
            "\"msg:<a.b()>\", a: &A",
            "\"msg:<a.b()>\", a:",
            "\"msg:<a.b()>\", a: &'x A<'y, T>",
            "\"msg:<a.b()>\", a::b",
            "\"msg:<self.b()>\", self: &A",
            "\"msg:<a>\", trust",
            "\"msg:<a>\", trust()",
            "\"msg:<a>\", store = none",
            "\"msg:<a>\", crate = ::once",
            "\"msg:<a>\", crate",
            "[\"msg:<a>\", \"evt:<b>\"]",
            "[]",
            "[3]",
            "key = \"msg:<a>\"",
            "format!(\"msg:{}\", a)",
        ] {
            let _ = key(input.parse().unwrap()).to_string();
        }
    }

    #[test]
    fn all_mistakes_come_out_of_one_compile_and_the_expression_keeps_its_type() {
        let out = key("\"order:<order.id()>:<Uuid::new_v4()>\", ttl = \"3s\"".parse().unwrap()).to_string();
        assert_eq!(out.matches("compile_error").count(), 3, "{out}");
        assert!(out.contains("Result < :: idem :: __private :: Key"), "{out}");
    }
}

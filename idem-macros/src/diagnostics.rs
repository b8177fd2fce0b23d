//! Mistakes, collected: all of them come out of one compile, each under the smallest token.

use std::fmt;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

use crate::rules::Rule;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diagnostics {
    found: Vec<Diagnostic>,
}

struct Diagnostic {
    at: At,
    text: String,
}

/// What the caret goes under. On stable Rust a span of several tokens is told by its two ends.
#[derive(Clone, Copy)]
pub(crate) struct At {
    start: Span,
    end: Span,
}

impl At {
    /// All of `tokens`; the attribute itself if there are none.
    pub(crate) fn tokens(tokens: &impl ToTokens) -> Self {
        let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
        let start = spans.next().unwrap_or_else(Span::call_site);
        Self { start, end: spans.last().unwrap_or(start) }
    }
}

impl At {
    /// From one token to another.
    pub(crate) fn between(start: Span, end: Span) -> Self {
        Self { start, end }
    }
}

impl From<Span> for At {
    fn from(span: Span) -> Self {
        Self { start: span, end: span }
    }
}

impl From<&Ident> for At {
    fn from(ident: &Ident) -> Self {
        ident.span().into()
    }
}

impl Diagnostics {
    /// Reports a broken rule: what is wrong, where, and what to write instead. Why it matters is the rule's own.
    pub(crate) fn report(
        &mut self,
        rule: &Rule,
        at: impl Into<At>,
        what: impl fmt::Display,
        help: impl fmt::Display,
    ) {
        let text = text(rule, &what, &help);
        self.found.push(Diagnostic { at: at.into(), text });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The errors as items, to stand beside the function.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.found.into_iter().flat_map(Diagnostic::into_tokens).collect()
    }
}

/// The four parts of a message, a line each.
pub(crate) fn text(rule: &Rule, what: &dyn fmt::Display, help: &dyn fmt::Display) -> String {
    let Rule { name, why } = rule;
    format!("{what}\nwhy: {why}\nhelp: {help}\nrule: idem::errors::{name}")
}

impl Diagnostic {
    /// `::core::compile_error! { "…" }`, which rustc shows from the first token to the last.
    fn into_tokens(self) -> [TokenTree; 8] {
        let At { start, end } = self.at;
        let punct = |char: char, spacing: Spacing| {
            let mut punct = Punct::new(char, spacing);
            punct.set_span(start);
            TokenTree::Punct(punct)
        };
        let ident = |name: &str| TokenTree::Ident(Ident::new(name, start));
        let mut text = Literal::string(&self.text);
        text.set_span(end);
        let mut braces = Group::new(Delimiter::Brace, TokenTree::Literal(text).into());
        braces.set_span(end);
        [
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            ident("core"),
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            ident("compile_error"),
            punct('!', Spacing::Alone),
            TokenTree::Group(braces),
        ]
    }
}

/// `a`, `b` and `c`, for a message.
pub(crate) fn list<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

//! The names of generated things, and the span they are made with.
//!
//! Locals are hygienic: at `mixed_site` a local of ours is invisible to the user's tokens, and theirs to ours. Items are not,
//! so theirs carry a prefix that nobody else uses.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

/// The span of everything that is ours.
pub(crate) fn site() -> Span {
    Span::mixed_site()
}

/// Ours, but shown at `span`: an error there points at what the user wrote, and lints know that nobody wrote it.
pub(crate) fn site_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// Tokens that mean what they meant, shown elsewhere.
pub(crate) fn shown_at(tokens: &TokenStream, at: Span) -> TokenStream {
    let shown = |mut token: TokenTree| {
        token.set_span(token.span().located_at(at));
        token
    };
    tokens.clone().into_iter().map(shown).collect()
}

fn ident(name: &str) -> Ident {
    Ident::new(name, site())
}

/// The function that a place is read through.
pub(crate) fn place(at: Span) -> Ident {
    Ident::new("__idem_place", at)
}

/// The handler's settings.
pub(crate) fn handler() -> Ident {
    ident("__IDEM_HANDLER")
}

/// The handler's settings, where they depend on type parameters.
pub(crate) fn local_handler() -> Ident {
    ident("__idem_handler")
}

/// The call.
pub(crate) fn call() -> Ident {
    ident("__idem_call")
}

/// The key while it is rendered.
pub(crate) fn key_text() -> Ident {
    ident("__idem_key")
}

/// The payload while it is taken in.
pub(crate) fn payload() -> Ident {
    ident("__idem_payload")
}

/// The facts, and those of a type.
pub(crate) fn facts_of(what: &str, at: Span) -> Ident {
    Ident::new(&format!("__IdemFacts{what}"), at)
}

/// The constant that asks for facts. Its name is shown if the answer is wrong.
pub(crate) fn facts_key(at: Span) -> Ident {
    Ident::new("__KEY", at)
}

/// What the run came to.
pub(crate) fn answer() -> Ident {
    ident("__idem_answer")
}

/// An answer that never is: it tells the compiler the type.
pub(crate) fn never() -> Ident {
    ident("__idem_never")
}

/// The function whose being `const` is the proof that a place is read the same on every attempt.
pub(crate) fn pure(place: usize) -> Ident {
    ident(&format!("__idem_pure{place}"))
}

/// A parameter that was written `_`.
pub(crate) fn ignored(argument: usize) -> Ident {
    ident(&format!("__idem_ignored{argument}"))
}

/// A type that carries const parameters in its name.
pub(crate) fn consts() -> Ident {
    ident("__IdemConsts")
}

/// The body, where it has to be a function.
pub(crate) fn body() -> Ident {
    ident("__idem_body")
}

/// The claim while such a body runs.
pub(crate) fn running() -> Ident {
    ident("__idem_running")
}

/// The call whose record is written, while its body runs.
pub(crate) fn inside() -> Ident {
    ident("__idem_inside")
}

/// What a part is written to.
pub(crate) fn out() -> Ident {
    ident("__idem_out")
}

/// `self`, through a reference of the type that was named for it.
pub(crate) fn this() -> Ident {
    ident("__idem_this")
}

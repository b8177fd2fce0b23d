//! How a function's work is written: in its body, or in a future that its body makes.
//!
//! `#[async_trait]`, `#[async_recursion]` and people by hand write `fn f(..) -> Pin<Box<dyn Future<..>>>`. Guarding such a body
//! would guard the making of the future and not the work, so the guard follows the future's own block. A body that cannot be
//! followed is refused by the bounds of its return type, which is no `Result`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use crate::item::{Item, bindings};
use crate::tokens::{is_ident, is_punct};

/// How the work is written.
pub(crate) enum Shape {
    /// A plain `fn`.
    Sync,
    /// An `async fn`.
    Async,
    /// A `fn` that ends in an `async` block.
    Future(Box<Future>),
}

/// A body that ends in `async move { … }` or `Box::pin(async move { … })`.
pub(crate) struct Future {
    /// The statements before it, which run at the call.
    pub(crate) before: TokenStream,
    /// `Box::pin` and its parentheses.
    pub(crate) pin: Option<(TokenStream, Group)>,
    pub(crate) block: Group,
    pub(crate) answer: Option<TokenStream>,
    pub(crate) rebinding: Option<Rebinding>,
}

/// What `#[async_trait]` makes of a body: arguments bound anew, then `let __ret: T = { … };`.
pub(crate) struct Rebinding {
    /// All before the work.
    pub(crate) before: TokenStream,
    /// `let __ret: T =`.
    pub(crate) binding: TokenStream,
    pub(crate) work: Group,
    /// All after it.
    pub(crate) after: TokenStream,
    /// The names that the arguments have in the work, in order.
    pub(crate) names: Vec<Ident>,
}

impl Shape {
    pub(crate) fn of(item: &Item) -> Self {
        if item.asyncness.is_some() {
            return Self::Async;
        }
        match Future::of(item) {
            Some(future) => Self::Future(Box::new(future)),
            None => Self::Sync,
        }
    }
}

impl Future {
    fn of(item: &Item) -> Option<Self> {
        let body: Vec<TokenTree> = item.body.stream().into_iter().collect();
        let (last, before) = body.split_last()?;
        let TokenTree::Group(group) = last else { return None };
        let (before, pin, block) = match group.delimiter() {
            Delimiter::Brace => {
                let at = before.len() - keywords(before)?;
                (&before[..at], None, group.clone())
            }
            Delimiter::Parenthesis => {
                let pinned: Vec<TokenTree> = group.stream().into_iter().collect();
                let (last, inside) = pinned.split_last()?;
                let TokenTree::Group(block) = last else { return None };
                if block.delimiter() != Delimiter::Brace || keywords(inside)? != inside.len() {
                    return None;
                }
                let at = before.len() - pin(before)?;
                let path = before[at..].iter().cloned().collect();
                (&before[..at], Some((path, group.clone())), block.clone())
            }
            _ => return None,
        };
        // The tail has to be a whole expression: not `x.await_on(Box::pin(…))` nor `return async {}`.
        if !before.last().is_none_or(|token| {
            is_punct(token, ';')
                || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        }) {
            return None;
        }
        let answer = output(&item.output);
        let rebinding = Rebinding::of(&block);
        Some(Self { before: before.iter().cloned().collect(), pin, block, answer, rebinding })
    }
}

impl Future {
    /// The names that the statements before it bind.
    pub(crate) fn names_before(&self) -> Vec<Ident> {
        let before: Vec<TokenTree> = self.before.clone().into_iter().collect();
        lets(&before)
    }
}

/// How many of the last tokens are `async` or `async move`.
fn keywords(tokens: &[TokenTree]) -> Option<usize> {
    match tokens {
        [.., a, b] if is_ident(a, "async") && is_ident(b, "move") => Some(2),
        [.., a] if is_ident(a, "async") => Some(1),
        _ => None,
    }
}

/// How many of the last tokens are a path that ends in `Box::pin`.
fn pin(tokens: &[TokenTree]) -> Option<usize> {
    let [.., a, b, c, d] = tokens else { return None };
    if !(is_ident(a, "Box") && is_punct(b, ':') && is_punct(c, ':') && is_ident(d, "pin")) {
        return None;
    }
    let path = |token: &&TokenTree| is_punct(token, ':') || matches!(token, TokenTree::Ident(_));
    let qualifiers = tokens[..tokens.len() - 4].iter().rev().take_while(path).count();
    Some(4 + qualifiers)
}

/// `T` of the first `Output = T` in a type.
fn output(ty: &TokenStream) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = ty.clone().into_iter().collect();
    for (at, pair) in tokens.windows(2).enumerate() {
        if is_ident(&pair[0], "Output") && is_punct(&pair[1], '=') {
            let rest = &tokens[at + 2..];
            let mut depth = 0_usize;
            let mut after_dash = false;
            let end = rest.iter().position(|token| {
                let closes = is_punct(token, '>') && !after_dash;
                let ends = depth == 0 && (closes || is_punct(token, ','));
                depth = (depth + usize::from(is_punct(token, '<'))).saturating_sub(usize::from(closes));
                after_dash = is_punct(token, '-');
                ends
            });
            return Some(rest[..end?].iter().cloned().collect());
        }
    }
    tokens.iter().find_map(|token| match token {
        TokenTree::Group(group) => output(&group.stream()),
        _ => None,
    })
}

impl Rebinding {
    fn of(block: &Group) -> Option<Self> {
        let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
        let at =
            tokens.windows(2).position(|pair| is_ident(&pair[0], "let") && is_ident(&pair[1], "__ret"))?;
        let work_at = at + tokens[at..].iter().position(|token| is_punct(token, ';'))? - 1;
        let TokenTree::Group(work) = tokens.get(work_at)? else { return None };
        if work.delimiter() != Delimiter::Brace || !is_punct(&tokens[work_at - 1], '=') {
            return None;
        }
        Some(Self {
            before: tokens[..at].iter().cloned().collect(),
            binding: tokens[at..work_at].iter().cloned().collect(),
            work: work.clone(),
            after: tokens[work_at + 1..].iter().cloned().collect(),
            names: lets(&tokens[..at]),
        })
    }
}

/// The names that `let` statements bind.
fn lets(tokens: &[TokenTree]) -> Vec<Ident> {
    let mut names = Vec::new();
    let mut rest = tokens;
    while let Some(at) = rest.iter().position(|token| is_ident(token, "let")) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|token| is_punct(token, '=')).unwrap_or(rest.len());
        let conditional = tokens.get((tokens.len() - rest.len()).wrapping_sub(2));
        if !conditional.is_some_and(|token| is_ident(token, "if")) {
            names.extend(bindings(rest[..end].iter().cloned().collect()));
        }
        rest = &rest[end..];
    }
    names
}

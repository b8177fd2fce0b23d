//! Arguments that idem supplies, and the return type.

use proc_macro2::{TokenStream, TokenTree};

use super::options::{Options, StoreOption};
use crate::diagnostics::{At, Diagnostics};
use crate::item::{ArgumentKind, Helper, Item};
use crate::rules;
use crate::shape::Shape;
use crate::tokens::{is_ident, is_punct, split_commas, unwrapped, without_impl_trait};

/// `#[key] key: &Key` and `#[attempt] attempt: &Attempt`.
pub(super) fn helpers(item: &Item, options: &Options, cx: &mut Diagnostics) {
    let mut seen = Vec::new();
    for argument in &item.arguments {
        let Some((helper, name)) = &argument.helper else { continue };
        let (ty, fallback) = match helper {
            Helper::Key => ("Key", "key"),
            Helper::Attempt => ("Attempt", "attempt"),
            Helper::Steps => {
                cx.report(
                    &rules::OPTION_LATER,
                    name,
                    format_args!("`#[steps]` is not accepted yet"),
                    format_args!("send each write under a key of its own: `key.step(\"capture\")` of a `#[key]` argument"),
                );
                continue;
            }
        };
        if seen.contains(helper) {
            cx.report(
                &rules::ARGUMENT_HELPER,
                name,
                format_args!("duplicate `#[{name}]` argument"),
                format_args!("keep one of them"),
            );
        }
        seen.push(*helper);
        let written = match &argument.kind {
            ArgumentKind::Typed { pattern, ty, .. } => Some((pattern, unwrapped(ty.clone()))),
            _ => None,
        };
        let is_reference = written.as_ref().is_some_and(|(_, ty)| {
            let mut tokens = ty.clone().into_iter();
            tokens.next().is_some_and(|token| is_punct(&token, '&'))
                && !tokens.any(|token| is_ident(&token, "mut"))
        });
        if !is_reference {
            let (pattern, ty) = match written {
                Some((pattern, written)) => {
                    // Their own path to it, if that is what they wrote; a number is none.
                    let path = owned(&written).filter(|path| path.ends_with(ty));
                    (pattern.to_string(), path.unwrap_or(ty.to_owned()))
                }
                None => (fallback.to_owned(), ty.to_owned()),
            };
            cx.report(
                &rules::ARGUMENT_HELPER,
                At::tokens(&argument.tokens),
                format_args!("a `#[{name}]` argument is a shared reference to what idem holds"),
                format_args!("write `#[{name}] {pattern}: &{ty}`"),
            );
        } else if let Some((pattern, written)) = written
            && let Some(other) = owned(&written).filter(|other| is_of_another_kind(other))
        {
            cx.report(
                &rules::ARGUMENT_HELPER,
                At::tokens(&written),
                format_args!("a `#[{name}]` argument is an `idem::{ty}`, and not a `{other}`"),
                match helper {
                    Helper::Key => {
                        format!("write `#[key] {pattern}: &idem::Key`; its text is `{pattern}.as_str()`")
                    }
                    _ => format!("write `#[{name}] {pattern}: &idem::{ty}`"),
                },
            );
        }
    }
    if let (StoreOption::Nowhere(at), false) = (&options.store, seen.contains(&Helper::Key)) {
        cx.report(
            &rules::STORE_NONE_WITHOUT_KEY,
            *at,
            format_args!("`store = none` without a `#[key]` argument protects nothing"),
            format_args!(
                "add the argument `#[key] key: &Key` to `{}`, and send it along with the write",
                item.name
            ),
        );
    }
}

/// Types that people take a key for. Of others, which may be aliases, the compiler tells.
fn is_of_another_kind(ty: &str) -> bool {
    let ty = ty.rsplit("::").next().unwrap_or(ty);
    matches!(ty, "String" | "Uuid") || ty.starts_with(|first: char| first.is_ascii_lowercase())
}

/// The type behind `&mut`, or by value, as it was written; `None` if it is no path.
fn owned(ty: &TokenStream) -> Option<String> {
    let path = ty.clone().into_iter().filter(|token| !is_punct(token, '&') && !is_ident(token, "mut"));
    let path: String = path.map(|token| token.to_string()).collect();
    path.ends_with(char::is_alphanumeric).then_some(path)
}

/// The type of the answer, and whether it says `impl Trait`. The outer `None` is a mistake; the inner one leaves it to the
/// compiler.
pub(super) fn answer(
    item: &Item,
    shape: &Shape,
    cx: &mut Diagnostics,
) -> Option<(Option<TokenStream>, bool)> {
    let name = &item.name;
    let written = unwrapped(item.output.clone());
    let tokens: Vec<TokenTree> = written.clone().into_iter().collect();
    let unit = matches!(&tokens[..], [TokenTree::Group(group)] if group.stream().is_empty());
    match &tokens[..] {
        [never] if is_punct(never, '!') => {
            cx.report(
                &rules::RETURN_NEVER,
                At::tokens(&written),
                format_args!("`{name}` never returns, so there is no result to record"),
                format_args!(
                    "put `#[idempotent]` on the function that handles one message, not on the loop around it"
                ),
            );
            return None;
        }
        _ if tokens.is_empty() || unit => {
            let at = if unit { At::tokens(&written) } else { name.into() };
            cx.report(
                &rules::RETURN_MISSING,
                at,
                format_args!("`#[idempotent]` needs `{name}` to return `Result<T, E>` with `E: From<idem::Error>`; it returns `()`"),
                format_args!("write `-> Result<(), idem::Error>`, and end the body with `Ok(())`"),
            );
            return None;
        }
        _ => {}
    }
    let answer = match shape {
        Shape::Sync | Shape::Async => Some(written),
        Shape::Future(future) => future.answer.clone(),
    };
    if let Some(value) = answer.as_ref().and_then(borrowed) {
        cx.report(
            &rules::RETURN_BORROWED,
            At::tokens(&value),
            format_args!("`{name}` returns a reference, which cannot be replayed"),
            format_args!("return a value that owns what it holds, such as `String` for `&str`"),
        );
        return None;
    }
    Some(answer.map_or((None, true), |answer| {
        let (answer, opaque) = without_impl_trait(answer);
        (Some(answer), opaque)
    }))
}

/// The value of a `Result` that holds a reference: no type with one is `DeserializeOwned`.
fn borrowed(answer: &TokenStream) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = answer.clone().into_iter().collect();
    let at = tokens.windows(2).position(|pair| is_ident(&pair[0], "Result") && is_punct(&pair[1], '<'))?;
    let value = split_commas(tokens[at + 2..].iter().cloned().collect()).into_iter().next()?;
    any_reference(value.clone()).then_some(value)
}

fn any_reference(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => any_reference(group.stream()),
        other => is_punct(&other, '&'),
    })
}

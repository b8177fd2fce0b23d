//! Options that name places and rules: what is compared, what a person vouches for, what they allow.

use proc_macro2::{TokenStream, TokenTree};

use super::super::exceptions::{self, Reader};
use super::{Allow, Trust};
use crate::args::{Value, Written, string};
use crate::diagnostics::{At, Diagnostics, list};
use crate::near::nearest;
use crate::place::Place;
use crate::rules;
use crate::tokens::{is_ident, is_punct, split_commas};

pub(super) fn payload(written: &Written, cx: &mut Diagnostics) -> Vec<(Place, TokenStream)> {
    match &written.value {
        Value::Listed(group) if !group.stream().is_empty() => split_commas(group.stream())
            .into_iter()
            .filter_map(|tokens| {
                if let Ok(place) = Place::parse(tokens.clone()) {
                    Some((place, tokens))
                } else {
                    if !exceptions::per_attempt(&tokens, None, Reader::Payload, None, At::tokens(&tokens), cx)
                    {
                        not_a_place(&tokens, cx);
                    }
                    None
                }
            })
            .collect(),
        value if value.is_word("none") => Vec::new(),
        value => {
            cx.report(
                &rules::OPTION_VALUE,
                value.at(&written.name),
                format_args!("`payload` takes the places that must be equal under one key, or `none`"),
                format_args!("write `payload(message.amount)`"),
            );
            Vec::new()
        }
    }
}

fn not_a_place(tokens: &TokenStream, cx: &mut Diagnostics) {
    cx.report(
        &rules::KEY_NOT_A_PLACE,
        At::tokens(tokens),
        format_args!(
            "`{}` is not an argument, nor a field or method of one",
            tokens.to_string().replace(' ', "")
        ),
        format_args!("name a place, such as `message.amount`"),
    );
}

/// `trust(place, reason = "…")`.
pub(super) fn trust(written: &Written, cx: &mut Diagnostics) -> Option<Trust> {
    let (tokens, reason) = with_reason(written, "message.offset()", cx)?;
    if let Ok(place) = Place::parse(tokens.clone()) {
        Some(Trust { place, at: At::tokens(&tokens), reason })
    } else {
        not_a_place(&tokens, cx);
        None
    }
}

/// `allow(rule, reason = "…")`.
pub(super) fn allow(written: &Written, cx: &mut Diagnostics) -> Option<Allow> {
    let (tokens, reason) = with_reason(written, rules::WITH_EXCEPTIONS[0].name, cx)?;
    let name = tokens.to_string().replace(' ', "");
    let at = At::tokens(&tokens);
    if let Some(rule) = rules::WITH_EXCEPTIONS.iter().find(|rule| rule.name == name) {
        return Some(Allow { rule, at, reason });
    }
    let exceptions = list(rules::WITH_EXCEPTIONS.iter().map(|rule| rule.name));
    if rules::ALL.iter().any(|rule| rule.name == name) {
        cx.report(
            &rules::ALLOW_UNKNOWN,
            at,
            format_args!("the rule `{name}` has no exceptions"),
            format_args!(
                "remove this `allow`, and do what the rule says; only these can be allowed: {exceptions}"
            ),
        );
    } else {
        let near = nearest(&name, rules::WITH_EXCEPTIONS.iter().map(|rule| rule.name));
        cx.report(
            &rules::ALLOW_UNKNOWN,
            at,
            format_args!("there is no rule `{name}`"),
            near.map_or_else(
                || format!("only these can be allowed: {exceptions}"),
                |near| format!("write `{near}`"),
            ),
        );
    }
    None
}

/// What stands before `reason = "…"`, and the reason. Without one it is reported, and still counts: one mistake is enough.
fn with_reason(written: &Written, example: &str, cx: &mut Diagnostics) -> Option<(TokenStream, String)> {
    let name = &written.name;
    let parts = match &written.value {
        Value::Listed(group) => split_commas(group.stream()),
        _ => Vec::new(),
    };
    let Some(what) = parts.first() else {
        wrong_list(written, example, cx);
        return None;
    };
    let reason = parts.get(1).and_then(|part| {
        let tokens: Vec<TokenTree> = part.clone().into_iter().collect();
        match &tokens[..] {
            [word, equals, text] if is_ident(word, "reason") && is_punct(equals, '=') => {
                string(text.clone().into()).map(|reason| reason.value())
            }
            _ => None,
        }
    });
    let reason = reason.unwrap_or_default();
    if parts.len() != 2 || reason.trim().is_empty() {
        let what = what.to_string().replace(' ', "");
        cx.report(
            &rules::REASON_MISSING,
            written.value.at(name),
            format_args!("`{name}({what})` does not say why"),
            format_args!("write `{name}({what}, reason = \"…\")`"),
        );
    }
    Some((what.clone(), reason))
}

fn wrong_list(written: &Written, example: &str, cx: &mut Diagnostics) {
    let name = &written.name;
    cx.report(
        &rules::OPTION_VALUE,
        written.value.at(name),
        format_args!("`{name}` takes what it is about, and a reason"),
        format_args!("write `{name}({example}, reason = \"…\")`"),
    );
}

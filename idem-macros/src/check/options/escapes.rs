//! Options that name places and rules: what is compared, what a person vouches for, what they allow.

use proc_macro2::{TokenStream, TokenTree};

use super::Trust;
use crate::args::{Value, Written, string};
use crate::diagnostics::{At, Diagnostics};
use crate::near::nearest;
use crate::place::Place;
use crate::rules::{self, Rule};
use crate::tokens::{is_ident, is_punct, split_commas};

pub(super) fn payload(written: &Written, cx: &mut Diagnostics) -> Vec<(Place, TokenStream)> {
    match &written.value {
        Value::Listed(group) if !group.stream().is_empty() => split_commas(group.stream())
            .into_iter()
            .filter_map(|tokens| {
                if let Ok(place) = Place::parse(tokens.clone()) {
                    Some((place, tokens))
                } else {
                    not_a_place(&tokens, cx);
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
    let (tokens, _) = with_reason(written, "message.offset()", cx)?;
    if let Ok(place) = Place::parse(tokens.clone()) {
        Some(Trust { place, at: At::tokens(&tokens) })
    } else {
        not_a_place(&tokens, cx);
        None
    }
}

/// `allow(rule, reason = "…")`.
pub(super) fn allow(written: &Written, cx: &mut Diagnostics) -> Option<&'static Rule> {
    let (tokens, _) = with_reason(written, "key_per_attempt", cx)?;
    let name = tokens.to_string().replace(' ', "");
    let rule = rules::ALL.iter().find(|rule| rule.name == name).copied();
    if rule.is_none() {
        let near = nearest(&name, rules::ALL.iter().map(|rule| rule.name));
        cx.report(
            &rules::ALLOW_UNKNOWN,
            At::tokens(&tokens),
            format_args!("there is no rule `{name}`"),
            match near {
                Some(near) => format!("write `{near}`"),
                None => String::from("write the name at the end of the message that is to go away"),
            },
        );
    }
    rule
}

/// What stands before `reason = "…"`.
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
                string(text.clone().into())
            }
            _ => None,
        }
    });
    match reason {
        Some(reason) if parts.len() == 2 && !reason.value().trim().is_empty() => {
            Some((what.clone(), reason.value()))
        }
        _ => {
            let what_text = what.to_string().replace(' ', "");
            cx.report(
                &rules::REASON_MISSING,
                written.value.at(name),
                format_args!("`{name}({what_text})` does not say why"),
                format_args!("write `{name}({what_text}, reason = \"…\")`"),
            );
            None
        }
    }
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

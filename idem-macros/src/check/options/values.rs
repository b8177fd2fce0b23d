//! How the value of an option is read, and what to say if it cannot be.

use std::time::Duration;

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use syn::LitStr;

use super::{KeyOption, StoreOption, TxOption, Window};
use crate::args::{Value, Written, string};
use crate::diagnostics::{Diagnostics, list};
use crate::duration::{self, DurationError, show};
use crate::near::nearest;
use crate::place::{Place, Root};
use crate::rules;
use crate::tokens::{is_ident, is_punct, unwrapped};

/// A value of the wrong kind: what the option takes, and one that it would take.
pub(super) fn wrong(written: &Written, wanted: &str, example: &str, cx: &mut Diagnostics) {
    let name = &written.name;
    cx.report(
        &rules::OPTION_VALUE,
        written.value.at(name),
        format_args!("`{name}` takes {wanted}"),
        format_args!("write `{name} = {example}`"),
    );
}

pub(super) fn assigned(
    written: &Written,
    wanted: &str,
    example: &str,
    cx: &mut Diagnostics,
) -> Option<TokenStream> {
    if let Value::Assigned(tokens) = &written.value {
        Some(tokens.clone())
    } else {
        wrong(written, wanted, example, cx);
        None
    }
}

/// The literal that is all of `tokens`.
fn only_literal(tokens: &TokenStream) -> Option<Literal> {
    let tokens: Vec<TokenTree> = unwrapped(tokens.clone()).into_iter().collect();
    match &tokens[..] {
        [TokenTree::Literal(literal)] => Some(literal.clone()),
        _ => None,
    }
}

pub(super) fn scope(written: &Written, cx: &mut Diagnostics) -> Option<TokenStream> {
    let (wanted, example) = ("a string, or a constant `&'static str`", "\"billing.charge\"");
    if let Value::Assigned(tokens) = &written.value
        && only_literal(tokens).is_some()
        && written.value.string().is_none()
    {
        wrong(written, wanted, example, cx);
        return None;
    }
    assigned(written, wanted, example, cx)
}

pub(super) fn key(written: &Written, cx: &mut Diagnostics) -> KeyOption {
    let templates = written.value.string().map(|one| vec![one]).or_else(|| written.value.strings());
    match templates {
        Some(templates) if templates.is_empty() => KeyOption::Missing,
        Some(templates) => KeyOption::Templates(templates),
        None => {
            cx.report(
                &rules::KEY_NOT_LITERAL,
                written.value.at(&written.name),
                format_args!("`key` takes a string literal, or a list of string literals"),
                format_args!("write the template itself: `key = \"msg:<message.id>\"`"),
            );
            KeyOption::Unusable
        }
    }
}

pub(super) fn store(written: &Written, cx: &mut Diagnostics) -> StoreOption {
    if written.value.is_word("none") {
        return StoreOption::Nowhere(written.value.at(&written.name));
    }
    let wanted = "an expression that is a store, or `none`";
    if let Value::Assigned(tokens) = &written.value
        && let Some(literal) = only_literal(tokens)
    {
        // Which server it is, is said where the store is made.
        cx.report(
            &rules::OPTION_VALUE,
            literal.span(),
            format_args!("`store` takes {wanted}"),
            if literal.to_string() == "\"none\"" {
                "write `store = none`"
            } else {
                "give the store to `idem::install(…)` at start-up, or name what holds it: an argument, or `store = self.store`"
            },
        );
        return StoreOption::Installed;
    }
    match assigned(written, wanted, "self.store", cx) {
        Some(store) => StoreOption::In(store),
        None => StoreOption::Installed,
    }
}

/// The place of a transaction. A `&mut` in front says what idem does anyway.
pub(super) fn tx(written: &Written, cx: &mut Diagnostics) -> TxOption {
    let at = written.value.at(&written.name);
    let Value::Assigned(tokens) = &written.value else {
        wrong(written, "the argument that is the transaction, or a field of one", "tx", cx);
        return TxOption { place: None, at, tokens: TokenStream::new() };
    };
    let mut place = unwrapped(tokens.clone()).into_iter().peekable();
    if place.next_if(|token| is_punct(token, '&')).is_some() {
        place.next_if(|token| is_ident(token, "mut"));
    }
    let place = Place::parse(place.collect())
        .ok()
        .filter(|place| place.is_of_fields() && matches!(place.root, Root::Name(_) | Root::This));
    if place.is_none() {
        let shown = tokens.to_string().replace(' ', "");
        cx.report(
            &rules::TX_NOT_AN_ARGUMENT,
            at,
            format_args!("`{shown}` is not an argument, nor a field of one"),
            format_args!("take the transaction as an argument, which the caller has begun and will commit, and name it: `tx = tx`"),
        );
    }
    TxOption { place, at, tokens: tokens.clone() }
}

pub(super) fn window(written: &Written, cx: &mut Diagnostics) -> Option<Window> {
    let Some(text) = written.value.string() else {
        wrong(written, "a duration in a string literal", "\"1h 30m\"", cx);
        return None;
    };
    let length = length(&written.name, &text, cx)?;
    Some(Window { length, at: written.name.span() })
}

fn length(name: &Ident, text: &LitStr, cx: &mut Diagnostics) -> Option<Duration> {
    let units = "the units are `ms`, `s`, `m`, `h`, `d` and `w`: `\"500ms\"`, `\"1h 30m\"`, `\"7d\"`";
    let value = text.value();
    let error = match duration::parse(&value) {
        Ok(length) if u64::try_from(length.as_millis()).is_ok() && length <= LONGEST => return Some(length),
        Ok(_) => DurationError::TooLong,
        Err(error) => error,
    };
    match error {
        DurationError::Empty => cx.report(
            &rules::OPTION_VALUE,
            text.span(),
            format_args!("`{name}` is empty"),
            format_args!("{units}"),
        ),
        DurationError::NoUnit(_) if value.contains('.') => cx.report(
            &rules::OPTION_VALUE,
            text.span(),
            format_args!("`{value}` is not a duration: its numbers are whole"),
            format_args!("write smaller units, such as `{name} = \"1s 500ms\"`"),
        ),
        DurationError::NoUnit(number) => cx.report(
            &rules::OPTION_VALUE,
            text.span(),
            format_args!("`{value}` is not a duration: `{number}` has no unit"),
            format_args!("write `{name} = \"{number}s\"` for seconds; {units}"),
        ),
        DurationError::UnknownUnit(unit) => cx.report(
            &rules::OPTION_VALUE,
            text.span(),
            format_args!("`{value}` is not a duration: `{unit}` is not a unit"),
            format_args!("{units}"),
        ),
        DurationError::NoNumber => cx.report(
            &rules::OPTION_VALUE,
            text.span(),
            format_args!("`{value}` is not a duration"),
            format_args!("write a whole number and a unit, such as `{name} = \"30s\"`"),
        ),
        DurationError::Zero => cx.report(
            &rules::OPTION_RANGE,
            text.span(),
            format_args!("`{name}` cannot be zero"),
            format_args!("leave `{name}` out for its default, or write a longer one"),
        ),
        DurationError::TooLong => cx.report(
            &rules::OPTION_RANGE,
            text.span(),
            format_args!("`{name} = \"{value}\"` is longer than a store can count"),
            format_args!("write at most `{name} = \"{}\"`", show(LONGEST)),
        ),
    }
    None
}

/// A hundred years, in days.
const LONGEST: Duration = Duration::from_secs(36_525 * 86_400);

pub(super) fn max_tries(written: &Written, cx: &mut Diagnostics) -> Option<u32> {
    let Some(number) = written.value.integer() else {
        let quoted = written.value.string().map(|text| text.value());
        let example = quoted.filter(|text| text.parse::<u32>().is_ok_and(|tries| tries > 0));
        wrong(written, "a whole number", example.as_deref().unwrap_or("5"), cx);
        return None;
    };
    if let Ok(tries @ 1..) = number.base10_parse::<u32>() {
        Some(tries)
    } else {
        cx.report(
            &rules::OPTION_RANGE,
            written.value.at(&written.name),
            format_args!("`max_tries` is at least 1 and at most {}", u32::MAX),
            format_args!("write how many attempts a message gets before it is parked: `max_tries = 5`"),
        );
        None
    }
}

pub(super) fn choice(
    written: &Written,
    choices: &[(&'static str, &'static str)],
    cx: &mut Diagnostics,
) -> Option<&'static str> {
    let name = &written.name;
    let all = list(choices.iter().map(|(choice, _)| format!("\"{choice}\"")));
    let Some(text) = written.value.string() else {
        let word =
            written.value.word().and_then(|word| nearest(&word, choices.iter().map(|(choice, _)| *choice)));
        let example = format!("\"{}\"", word.unwrap_or(choices[0].0));
        wrong(written, &format!("one of the string literals {all}"), &example, cx);
        return None;
    };
    let value = text.value();
    if let Some((_, variant)) = choices.iter().find(|(choice, _)| *choice == value) {
        return Some(variant);
    }
    let near = nearest(&value, choices.iter().map(|(choice, _)| *choice));
    cx.report(
        &rules::OPTION_VALUE,
        text.span(),
        format_args!("`{name}` cannot be `\"{value}\"`"),
        match near {
            Some(near) => format!("write `{name} = \"{near}\"`"),
            None => format!("write one of {all}"),
        },
    );
    None
}

pub(super) fn on_lapse(written: &Written, cx: &mut Diagnostics) -> Option<&'static str> {
    if let Value::Assigned(tokens) = &written.value
        && tokens.clone().into_iter().next().is_some_and(|first| is_ident(&first, "recover"))
    {
        cx.report(
            &rules::OPTION_LATER,
            written.value.at(&written.name),
            format_args!("`on_lapse = recover` is not accepted yet"),
            format_args!("write `on_lapse = \"park\"`, and let a person ask the other side what happened"),
        );
        return None;
    }
    choice(written, &[("rerun", "Rerun"), ("park", "Park")], cx)
}

/// `"error"`, `wait("5s")` or `(wait = "5s")`.
pub(super) fn on_duplicate(written: &Written, cx: &mut Diagnostics) -> Option<Duration> {
    let wanted = "`\"error\"`, or a time to wait for the other attempt's result";
    let tokens: Vec<TokenTree> = match &written.value {
        Value::Assigned(tokens) => unwrapped(tokens.clone()).into_iter().collect(),
        Value::Listed(group) => group.stream().into_iter().collect(),
        Value::Nothing => Vec::new(),
    };
    let text = match &tokens[..] {
        [wait, TokenTree::Group(group)]
            if is_ident(wait, "wait") && group.delimiter() == Delimiter::Parenthesis =>
        {
            string(group.stream())
        }
        [wait, equals, text] if is_ident(wait, "wait") && is_punct(equals, '=') => {
            string(text.clone().into())
        }
        _ => match written.value.string() {
            Some(text) if text.value() == "error" => return None,
            _ => None,
        },
    };
    if let Some(text) = text {
        length(&written.name, &text, cx)
    } else {
        wrong(written, wanted, "wait(\"5s\")", cx);
        None
    }
}

//! What each option means by itself.

use std::time::Duration;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::LitStr;

use crate::args::{Args, Value, Written, string};
use crate::diagnostics::{At, Diagnostics, list};
use crate::duration::{self, DurationError, show};
use crate::model;
use crate::near::nearest;
use crate::place::Place;
use crate::rules::{self, Rule};
use crate::tokens::{is_ident, is_punct, split_commas, unwrapped};

/// All options that there are, in the order of the documentation.
static NAMES: &[&str] = &[
    "key",
    "store",
    "scope",
    "scope_was",
    "ttl",
    "keep",
    "redelivery",
    "lease",
    "max_hold",
    "max_tries",
    "payload",
    "on_lapse",
    "on_duplicate",
    "final_error",
    "mode",
    "once_per",
    "require",
    "trust",
    "allow",
    "crate",
];

/// Options of a later version, and what to do until then.
static LATER: &[(&str, &str)] = &[
    ("tx", "write the record with the store that you have, and make the effect safe to repeat"),
    ("published", "set `keep` longer than the queue keeps a message"),
];

/// The options, each understood by itself.
#[derive(Default)]
pub(super) struct Options {
    pub(super) key: KeyOption,
    pub(super) store: StoreOption,
    pub(super) scope: Option<TokenStream>,
    pub(super) scope_was: Vec<String>,
    pub(super) ttl: Option<Window>,
    pub(super) keep: Option<Window>,
    pub(super) redelivery: Option<Window>,
    pub(super) lease: Option<Window>,
    pub(super) max_hold: Option<Window>,
    pub(super) max_tries: Option<u32>,
    pub(super) payload: Vec<(Place, TokenStream)>,
    pub(super) on_lapse: Option<&'static str>,
    pub(super) wait: Option<Duration>,
    pub(super) final_error: Option<TokenStream>,
    pub(super) mode: Option<&'static str>,
    pub(super) once_per: Option<LitStr>,
    pub(super) require: Option<&'static str>,
    pub(super) trusts: Vec<Trust>,
    pub(super) allows: Vec<&'static Rule>,
    pub(super) krate: Option<TokenStream>,
}

/// What was said about the key.
#[derive(Default)]
pub(super) enum KeyOption {
    #[default]
    Missing,
    /// Said, but not understood: reported already.
    Unusable,
    Templates(Vec<LitStr>),
}

/// What was said about the store.
#[derive(Default)]
pub(super) enum StoreOption {
    #[default]
    Installed,
    Nowhere(At),
    In(TokenStream),
}

/// A duration, and where it was written.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) length: Duration,
    /// The option's name.
    pub(super) at: Span,
}

/// A method that a person vouches for.
pub(super) struct Trust {
    pub(super) place: Place,
    pub(super) at: At,
}

impl StoreOption {
    pub(super) fn model(&self) -> model::Store {
        match self {
            Self::Installed => model::Store::Installed,
            Self::Nowhere(_) => model::Store::Nowhere,
            Self::In(store) => model::Store::In(store.clone()),
        }
    }
}

pub(super) fn read(args: &Args, cx: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let mut seen: Vec<String> = Vec::new();
    for written in &args.options {
        let name = written.name.to_string();
        let may_repeat = matches!(name.as_str(), "trust" | "allow");
        if !may_repeat && seen.contains(&name) {
            cx.report(
                &rules::OPTION_REPEATED,
                &written.name,
                format_args!("duplicate option `{name}`"),
                format_args!("keep one of them"),
            );
            continue;
        }
        one(written, &name, &mut options, cx);
        seen.push(name);
    }
    // A misspelt `key` is one mistake, not two; so is a template without `key =`.
    let misspelt =
        |written: &Written| nearest(&written.name.to_string(), NAMES.iter().copied()) == Some("key");
    if matches!(options.key, KeyOption::Missing) && (args.bare_key || args.options.iter().any(misspelt)) {
        options.key = KeyOption::Unusable;
    }
    options
}

fn one(written: &Written, name: &str, options: &mut Options, cx: &mut Diagnostics) {
    match name {
        "key" => options.key = key(written, cx),
        "store" => options.store = store(written, cx),
        "scope" => {
            options.scope =
                assigned(written, "a string, or a constant `&'static str`", "\"billing.charge\"", cx)
        }
        "scope_was" => {
            options.scope_was = match written.value.strings() {
                Some(scopes) => scopes.iter().map(LitStr::value).collect(),
                None => {
                    wrong(written, "a list of string literals", "[\"billing.charge\"]", cx);
                    Vec::new()
                }
            }
        }
        "ttl" => options.ttl = window(written, cx),
        "keep" => options.keep = window(written, cx),
        "redelivery" => options.redelivery = window(written, cx),
        "lease" => options.lease = window(written, cx),
        "max_hold" => options.max_hold = window(written, cx),
        "max_tries" => options.max_tries = max_tries(written, cx),
        "payload" => options.payload = payload(written, cx),
        "on_lapse" => options.on_lapse = on_lapse(written, cx),
        "on_duplicate" => options.wait = on_duplicate(written, cx),
        "final_error" => {
            options.final_error =
                assigned(written, "the path of a `fn(&E) -> bool`", "ChargeError::is_final", cx)
        }
        "mode" => {
            let modes = [("lease_and_replay", "LeaseAndReplay"), ("at_most_once", "AtMostOnce")];
            options.mode = choice(written, &modes, cx);
        }
        "require" => {
            let classes = [
                ("any", "Volatile"),
                ("lossy", "Lossy"),
                ("durable", "Durable"),
                ("transactional", "Transactional"),
            ];
            options.require = choice(written, &classes, cx).filter(|class| *class != "Volatile");
        }
        "once_per" => match written.value.string() {
            Some(entity) if !entity.value().trim().is_empty() => options.once_per = Some(entity),
            _ => wrong(written, "a string literal that names the entity", "\"customer\"", cx),
        },
        "trust" => options.trusts.extend(trust(written, cx)),
        "allow" => options.allows.extend(allow(written, cx)),
        "crate" => {
            options.krate = match written.value.string() {
                Some(path) => path.parse().ok(),
                None => assigned(written, "the path of idem", "::once", cx),
            }
        }
        _ => unknown(written, name, cx),
    }
}

fn unknown(written: &Written, name: &str, cx: &mut Diagnostics) {
    if let Some((_, until_then)) = LATER.iter().find(|(later, _)| *later == name) {
        return cx.report(
            &rules::OPTION_LATER,
            &written.name,
            format_args!("the option `{name}` is not accepted yet"),
            format_args!("{until_then}"),
        );
    }
    match nearest(name, NAMES.iter().copied()) {
        Some(near) => cx.report(
            &rules::OPTION_UNKNOWN,
            &written.name,
            format_args!("unknown option `{name}`"),
            format_args!("write `{near}`"),
        ),
        None => cx.report(
            &rules::OPTION_UNKNOWN,
            &written.name,
            format_args!("unknown option `{name}`"),
            format_args!("the options are {}", list(NAMES)),
        ),
    }
}

/// A value of the wrong kind: what the option takes, and one that it would take.
fn wrong(written: &Written, wanted: &str, example: &str, cx: &mut Diagnostics) {
    let name = &written.name;
    cx.report(
        &rules::OPTION_VALUE,
        written.value.at(name),
        format_args!("`{name}` takes {wanted}"),
        format_args!("write `{name} = {example}`"),
    );
}

fn assigned(written: &Written, wanted: &str, example: &str, cx: &mut Diagnostics) -> Option<TokenStream> {
    match &written.value {
        Value::Assigned(tokens) => Some(tokens.clone()),
        _ => {
            wrong(written, wanted, example, cx);
            None
        }
    }
}

fn key(written: &Written, cx: &mut Diagnostics) -> KeyOption {
    let templates = written.value.string().map(|one| vec![one]).or_else(|| written.value.strings());
    match templates {
        Some(templates) if !templates.is_empty() => KeyOption::Templates(templates),
        _ => {
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

fn store(written: &Written, cx: &mut Diagnostics) -> StoreOption {
    if written.value.is_word("none") {
        return StoreOption::Nowhere(written.value.at(&written.name));
    }
    match assigned(written, "an expression that is a store, or `none`", "self.store", cx) {
        Some(store) => StoreOption::In(store),
        None => StoreOption::Installed,
    }
}

fn window(written: &Written, cx: &mut Diagnostics) -> Option<Window> {
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

fn max_tries(written: &Written, cx: &mut Diagnostics) -> Option<u32> {
    let Some(number) = written.value.integer() else {
        wrong(written, "a whole number", "5", cx);
        return None;
    };
    match number.base10_parse::<u32>() {
        Ok(tries @ 1..) => Some(tries),
        _ => {
            cx.report(
                &rules::OPTION_RANGE,
                number.span(),
                format_args!("`max_tries` is at least 1 and at most {}", u32::MAX),
                format_args!("write `max_tries = 1` to park a message after its first failure"),
            );
            None
        }
    }
}

fn choice(
    written: &Written,
    choices: &[(&'static str, &'static str)],
    cx: &mut Diagnostics,
) -> Option<&'static str> {
    let name = &written.name;
    let all = list(choices.iter().map(|(choice, _)| format!("\"{choice}\"")));
    let text = match written.value.string() {
        Some(text) => text,
        None => {
            wrong(
                written,
                &format!("one of the string literals {all}"),
                &format!("\"{}\"", choices[0].0),
                cx,
            );
            return None;
        }
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

fn on_lapse(written: &Written, cx: &mut Diagnostics) -> Option<&'static str> {
    if let Value::Assigned(tokens) = &written.value {
        if tokens.clone().into_iter().next().is_some_and(|first| is_ident(&first, "recover")) {
            cx.report(
                &rules::OPTION_LATER,
                written.value.at(&written.name),
                format_args!("`on_lapse = recover` is not accepted yet"),
                format_args!(
                    "write `on_lapse = \"park\"`, and let a person ask the other side what happened"
                ),
            );
            return None;
        }
    }
    choice(written, &[("rerun", "Rerun"), ("park", "Park")], cx)
}

/// `"error"`, `wait("5s")` or `(wait = "5s")`.
fn on_duplicate(written: &Written, cx: &mut Diagnostics) -> Option<Duration> {
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
    match text {
        Some(text) => length(&written.name, &text, cx),
        None => {
            wrong(written, wanted, "wait(\"5s\")", cx);
            None
        }
    }
}

fn payload(written: &Written, cx: &mut Diagnostics) -> Vec<(Place, TokenStream)> {
    match &written.value {
        Value::Listed(group) if !group.stream().is_empty() => split_commas(group.stream())
            .into_iter()
            .filter_map(|tokens| match Place::parse(tokens.clone()) {
                Ok(place) => Some((place, tokens)),
                Err(_) => {
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
fn trust(written: &Written, cx: &mut Diagnostics) -> Option<Trust> {
    let (tokens, _) = with_reason(written, "message.offset()", cx)?;
    match Place::parse(tokens.clone()) {
        Ok(place) => Some(Trust { place, at: At::tokens(&tokens) }),
        Err(_) => {
            not_a_place(&tokens, cx);
            None
        }
    }
}

/// `allow(rule, reason = "…")`.
fn allow(written: &Written, cx: &mut Diagnostics) -> Option<&'static Rule> {
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

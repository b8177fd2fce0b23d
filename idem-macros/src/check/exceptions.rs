//! The ways out: a person vouches for a method, or says that a name lies. One that covers nothing is a mistake too.

use proc_macro2::{Span, TokenStream};

use super::key::Keys;
use super::key_names::surely_per_delivery;
use super::options::Options;
use crate::diagnostics::{At, Diagnostics};
use crate::known::{self, Family};
use crate::place::{Place, lex};
use crate::rules::{self, Rule};

impl Options {
    /// Whether a person vouches for the place.
    pub(super) fn trusts(&self, place: &Place) -> bool {
        let place = place.to_string();
        self.trusts.iter().any(|trust| trust.place.to_string() == place)
    }

    /// Whether a person says that the rule does not apply here.
    pub(super) fn allows(&self, rule: &Rule) -> bool {
        self.allows.iter().any(|allow| allow.rule.name == rule.name)
    }
}

/// Where a place is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Key,
    Payload,
}

impl Reader {
    /// The rule that a call of this family breaks here.
    fn rule(self, family: &Family) -> &'static Rule {
        match self {
            Self::Key => family.rule(),
            Self::Payload => &rules::PAYLOAD_PER_ATTEMPT,
        }
    }
}

/// Reports what in `tokens` is another one on every attempt, unless there is an exception for it; only a place can have one.
/// `example` is a place of this function's, for the message.
///
/// Trust covers a place and its proof. An allowance covers the name alone: the compiler still proves what is called.
pub(super) fn per_attempt(
    tokens: &TokenStream,
    place: Option<(&Place, &Options)>,
    reader: Reader,
    example: Option<&str>,
    at: At,
    cx: &mut Diagnostics,
) -> bool {
    let Some((mention, family)) = known::per_attempt(tokens) else { return false };
    let rule = reader.rule(family);
    if place.is_some_and(|(place, options)| options.trusts(place) || options.allows(rule)) {
        return false;
    }
    let reader = if reader == Reader::Key { "key" } else { "payload" };
    let what = format!("`{mention}` in the {reader} gives {}", family.gives);
    let instead = match example {
        Some(example) => family.instead.replace("message.id", example),
        None => family.instead.to_owned(),
    };
    cx.report(rule, at, what, instead);
    true
}

/// With a mistake elsewhere, nothing can be said about what an escape would have covered.
pub(super) fn unused(options: &Options, keys: &Keys, in_body: &[&Rule], cx: &mut Diagnostics) {
    if !cx.is_empty() {
        return;
    }
    let read: Vec<(Reader, &Place)> = keys
        .places
        .iter()
        .map(|read| (Reader::Key, &read.place))
        .chain(options.payload.iter().map(|(place, _)| (Reader::Payload, place)))
        .collect();
    for trust in &options.trusts {
        let text = trust.place.to_string();
        if !read.iter().any(|(_, place)| place.calls() && place.to_string() == text) {
            cx.report(
                &rules::TRUST_UNUSED,
                trust.at,
                format_args!("`{text}` is trusted, but neither the key nor the payload calls such a method"),
                format_args!("write the place as the key has it, or remove the `trust`"),
            );
        }
    }
    let broken = |(reader, place): &(Reader, &Place)| {
        if *reader == Reader::Payload && surely_per_delivery(place).is_some() {
            return Some(rules::PAYLOAD_PER_ATTEMPT.name);
        }
        let tokens = lex(&place.to_string(), Span::call_site())?;
        known::per_attempt(&tokens).map(|(_, family)| reader.rule(family).name)
    };
    for allow in &options.allows {
        let name = allow.rule.name;
        // Only the compiler knows what the types would have said.
        if [&rules::FACTS_PER_DELIVERY, &rules::FACTS_NO_IDENTITY].iter().any(|rule| rule.name == name) {
            continue;
        }
        let excused = keys.excused.iter().any(|rule| rule.name == name);
        let in_body = in_body.iter().any(|rule| rule.name == name);
        if !excused && !in_body && !read.iter().any(|place| broken(place) == Some(name)) {
            cx.report(
                &rules::ALLOW_UNUSED,
                allow.at,
                format_args!("`{name}` is allowed, but nothing here breaks it"),
                format_args!("remove `allow({name}, …)`"),
            );
        }
    }
}

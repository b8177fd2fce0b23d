//! A part that may be missing is read as it is: unwrapped, it would panic.

use super::exceptions::Reader;
use super::options::Options;
use crate::diagnostics::{At, Diagnostics};
use crate::known;
use crate::place::Place;
use crate::rules;

/// Reports a place that unwraps, unless a person vouches for it: the method may be one of a type of the reader's own.
pub(super) fn unwraps(
    place: &Place,
    options: &Options,
    reader: Reader,
    at: At,
    cx: &mut Diagnostics,
) -> bool {
    let Some(inner) = place.before_call("unwrap").filter(|_| !options.trusts(place)) else { return false };
    let is_last = place.without_last_call().is_some_and(|rest| rest.to_string() == inner.to_string());
    report(&place.to_string(), &inner, is_last, reader, at, cx);
    true
}

/// The same of a method with arguments, which no place can have.
pub(super) fn expects(text: &str, inner: &Place, at: At, cx: &mut Diagnostics) {
    report(text, inner, text.trim().ends_with(')'), Reader::Key, at, cx);
}

fn report(text: &str, inner: &Place, is_last: bool, reader: Reader, at: At, cx: &mut Diagnostics) {
    let inner = unconverted(inner);
    let (what, help) = match reader {
        Reader::Key => (
            format!("`<{text}>` in the key panics where `{inner}` is missing"),
            format!(
                "read `<{inner}>` itself: a message without it is then parked, and the body does not run"
            ),
        ),
        Reader::Payload => (
            format!("`{text}` in the payload panics where `{inner}` is missing"),
            format!("compare `{inner}` itself: that it is missing is compared too"),
        ),
    };
    let help = if is_last {
        help
    } else {
        "let a message without it fail to parse, or give the function the value as an argument of its own"
            .to_owned()
    };
    cx.report(&rules::KEY_UNWRAP, at, what, help);
}

/// The place that is converted before it is unwrapped: `message.parent` of `message.parent.as_ref()`.
fn unconverted(place: &Place) -> Place {
    let last = place.methods().last().map(ToString::to_string);
    match place.without_last_call() {
        Some(inner) if last.is_some_and(|last| known::is_conversion(&last)) => unconverted(&inner),
        _ => place.clone(),
    }
}

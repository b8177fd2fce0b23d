//! Methods that are random, or count, by what they are given.

use std::rc::Rc;

use syn::{Expr, ExprMethodCall};

use super::methods::{last_name, mention};
use super::value::{Source, Value};
use crate::diagnostics::At;
use crate::known::{self, Kind};

/// Methods that draw with the generator that they are given.
pub(super) const DRAWING: [&str; 8] = [
    "choose",
    "choose_multiple",
    "choose_weighted",
    "partial_shuffle",
    "sample",
    "sample_iter",
    "sample_string",
    "shuffle",
];

/// What an atomic number is asked for, besides a value.
const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// `ids.choose(&mut rng)`, where nothing more is known of `rng` than its name.
pub(super) fn drawn(call: &ExprMethodCall, name: &str, values: &[Value]) -> Option<Value> {
    if !DRAWING.contains(&name) {
        return None;
    }
    let draws = |(argument, value): (&Expr, &Value)| {
        matches!(value, Value::Clean) && last_name(argument).to_lowercase().ends_with("rng")
    };
    call.args.iter().zip(values).any(draws).then(|| source(call, "random_range")).flatten()
}

/// `COUNTER.swap(1, Ordering::Relaxed)`: what was there before. A list swaps two of its entries.
pub(super) fn swapped(call: &ExprMethodCall, name: &str) -> Option<Value> {
    if name != "swap" {
        return None;
    }
    let Some(Expr::Path(last)) = call.args.last() else { return None };
    let last = last.path.segments.last()?;
    let atomic = ORDERINGS.iter().any(|ordering| last.ident == ordering);
    atomic.then(|| source(call, ".fetch_add")).flatten()
}

/// Its value, which is what the family of an entry of the table gives.
fn source(call: &ExprMethodCall, entry: &str) -> Option<Value> {
    let family = known::family_of(entry)?;
    Some(Value::Fresh(Rc::new(Source {
        at: At::between(call.method.span(), call.paren_token.span.close()),
        shown: mention(call).to_string(),
        gives: family.gives,
        kind: Kind::Fresh,
        shown_where_used: false,
    })))
}

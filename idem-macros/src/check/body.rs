//! Where a key leaves the body: a header, a setter, a field. What goes there must not be made by the attempt.
//!
//! The body itself is passed on untouched. A copy is parsed here and followed from statement to statement, within this function: a
//! body that does not parse, a helper function, another module, and most macros are not seen, and nothing is said about them.

use std::rc::Rc;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::Parser;

use super::options::Options;
use crate::diagnostics::{At, Diagnostics};
use crate::item::{Argument, ArgumentKind, Helper, Item};
use crate::known;
use crate::rules::Rule;

mod calls;
mod closures;
mod flow;
mod keys;
mod macros;
mod methods;
mod mutation;
mod need;
mod order;
mod patterns;
mod random;
mod renamed;
mod scopes;
mod sinks;
mod value;
mod ways;

use flow::Flow;
use sinks::{Cure, Finding};
use value::{Source, Value};

/// Reports what is wrong in the body; the rules that are broken there but allowed.
pub(super) fn check(item: &Item, options: &Options, cx: &mut Diagnostics) -> Vec<&'static Rule> {
    let mut allowed = Vec::new();
    for finding in findings(item) {
        if options.allows(finding.rule) {
            allowed.push(finding.rule);
        } else {
            report(finding, item, cx);
        }
    }
    allowed
}

fn findings(item: &Item) -> Vec<Finding> {
    let (flow, fresh) = begun(item);
    if need::is_to_be_parsed(item.text(), fresh) { followed(flow, item) } else { Vec::new() }
}

/// The walk before its first statement, and whether an argument is another one at each attempt, or has no order.
fn begun(item: &Item) -> (Flow, bool) {
    let mut flow = Flow::default();
    let mut fresh = false;
    for argument in &item.arguments {
        for name in argument.bindings() {
            let value = argument_value(argument, name);
            fresh |= !matches!(value, Value::Clean);
            flow.scopes.declare(&name.unraw().to_string(), value);
        }
    }
    (flow, fresh)
}

fn followed(mut flow: Flow, item: &Item) -> Vec<Finding> {
    let body = item.body.stream();
    if is_deeper_than(body.clone(), 100) {
        return Vec::new();
    }
    let Ok(statements) = syn::Block::parse_within.parse2(body) else { return Vec::new() };
    flow.statements(&statements);
    flow.found
}

/// An argument is part of the message, except for what idem says about the attempt.
fn argument_value(argument: &Argument, name: &syn::Ident) -> Value {
    match argument.helper {
        Some((Helper::Attempt, _)) => Value::Fresh(Rc::new(Source {
            at: name.into(),
            shown: name.to_string(),
            gives: "something else on every attempt",
            kind: known::Kind::Fresh,
            shown_where_used: true,
        })),
        _ => match &argument.kind {
            ArgumentKind::Typed { ty, .. } if argument.bindings().len() == 1 => {
                order::argument_in_any_order(ty, name).unwrap_or(Value::Clean)
            }
            _ => Value::Clean,
        },
    }
}

/// Whether brackets stand in brackets to such a depth that parsing them could overflow the compiler's stack.
fn is_deeper_than(tokens: TokenStream, deepest: usize) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => deepest == 0 || is_deeper_than(group.stream(), deepest - 1),
        _ => false,
    })
}

fn report(finding: Finding, item: &Item, cx: &mut Diagnostics) {
    let Finding { rule, at, what, cure, .. } = finding;
    let key = item
        .arguments
        .iter()
        .find(|argument| matches!(argument.helper, Some((Helper::Key, _))))
        .and_then(|argument| argument.bindings().first());
    let help = match (key, cure) {
        (Some(key), Cure::Pass) => {
            format!("pass the key of this handler, `{key}.as_str()`, or an id that came with the message")
        }
        (None, Cure::Pass) => "add `#[key] key: &idem::Key` to the arguments and pass `key.as_str()`, or pass an id that came with the message".to_owned(),
        (Some(key), Cure::Set(setter)) => setter.replace("{key}", &key.to_string()),
        (None, Cure::Set(setter)) => {
            format!("add `#[key] key: &idem::Key` to the arguments, and {}", setter.replace("{key}", "key"))
        }
        (Some(key), Cure::Name) => {
            format!("name what came with the message instead; for one of several writes, `{key}.step(\"…\")`")
        }
        (None, Cure::Name) => "name what came with the message instead".to_owned(),
    };
    cx.report(rule, at, what, help);
}

/// Where the caret goes for an expression or an identifier.
fn at(tokens: &impl quote::ToTokens) -> At {
    At::tokens(tokens)
}

#[cfg(test)]
mod tests;

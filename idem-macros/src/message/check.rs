//! Each message has one identity, and it is what the publisher sent.

use proc_macro2::{Ident, Span};
use quote::ToTokens;

use super::fields::{MessageField, Role, Shape};
use crate::diagnostics::{At, Diagnostics};
use crate::known::names::{self, per_delivery, snake_case};
use crate::rules;
use crate::tokens::any_ident;

/// `at` is the name of the struct or variant, and `shown` how it is written.
pub(super) fn shape(shape: &Shape, at: &Ident, shown: &str, cx: &mut Diagnostics) {
    for role in [Role::Id, Role::Event] {
        let mut marked = shape.marked(role);
        let Some((first, _)) = marked.next() else { continue };
        for (second, mark) in marked {
            cx.report(
                &rules::MESSAGE_TWO_IDENTITIES,
                mark.at,
                format_args!("`{}` and `{}` are both `{}` of `{shown}`", first.name, second.name, role.word()),
                match role {
                    Role::Id => "mark the one that survives a republish as `#[message(event)]`; a key may read further fields beside the one that is marked",
                    _ => "keep the one that names the fact; a key may read further fields beside it",
                },
            );
        }
    }
    if !shape.fields.iter().any(MessageField::is_identity) {
        // A mark that could not be read may have been meant as one.
        if cx.is_empty() {
            none(shape, at, shown, cx);
        }
        return;
    }
    for field in shape.fields.iter().filter(|field| field.is_identity()) {
        sent(field, cx);
    }
    for field in shape.fields.iter().filter(|field| !field.is_marked && field.is_payload()) {
        compared(field, cx);
    }
}

/// Sets that write their entries in an order of this process: to serde they are lists, whose order counts.
const UNORDERED: [&str; 3] = ["HashSet", "AHashSet", "DashSet"];

/// Reports what would be compared between deliveries, and has the name of a queue's or an order of its own in each process.
fn compared(field: &MessageField, cx: &mut Diagnostics) {
    let (name, ty) = (&field.name, field.shown_type());
    if let Some(is) = names::of_one_delivery(&snake_case(name)) {
        cx.report(
            &rules::PAYLOAD_PER_ATTEMPT,
            At::tokens(&field.member),
            format_args!("`{name}` in the payload {is}"),
            format_args!(
                "mark it: `#[message(per_delivery)] {name}: {ty}`; if the name lies, say so: `#[message(payload)]`"
            ),
        );
        return;
    }
    let mut set = None;
    any_ident(field.ty.to_token_stream(), &mut |ident| {
        set = UNORDERED.into_iter().find(|unordered| ident == unordered);
        set.is_some()
    });
    if let Some(set) = set.filter(|_| field.serde.with.is_none()) {
        cx.report(
            &rules::PAYLOAD_PER_ATTEMPT,
            At::tokens(&field.member),
            format_args!("the entries of a `{set}`, as in `{name}`, come in another order each time"),
            format_args!(
                "make it a `BTreeSet`, or leave it out of the comparison: `#[message(skip)] {name}: {ty}`; if its order stays, say so: `#[message(payload)]`"
            ),
        );
    }
}

fn none(shape: &Shape, at: &Ident, shown: &str, cx: &mut Diagnostics) {
    let looks_right = |field: &&MessageField| {
        let name = snake_case(&field.name);
        matches!(name.as_str(), "id" | "uuid" | "ulid" | "message_id" | "event_id")
            || (name.ends_with("_id") && per_delivery(&name).is_none())
    };
    let candidate = shape.fields.iter().filter(|field| field.mark.is_none()).find(looks_right);
    let help = match candidate {
        Some(field) => {
            let (name, ty) = (&field.name, field.shown_type());
            format!("mark the field that the publisher gives once: `#[message(id)] {name}: {ty}`")
        }
        None => {
            "add the id that the publisher gives once, and mark it: `#[message(id)] id: String`".to_owned()
        }
    };
    cx.report(
        &rules::MESSAGE_NO_IDENTITY,
        at,
        format_args!("no field of `{shown}` is marked as its identity"),
        help,
    );
}

/// Reports what would give an identity to a message that came without one.
fn sent(field: &MessageField, cx: &mut Diagnostics) {
    let name = &field.name;
    let owned =
        if field.is_option() { field.shown_type() } else { format!("Option<{}>", field.shown_type()) };
    let or_missing = format!(
        "remove it, so that a message without an id does not parse; or make it `{owned}`, whose `None` is refused when the key is made"
    );
    let mut refuse = |at: Span, what: String, help: String| {
        cx.report(&rules::MESSAGE_IDENTITY_DEFAULT, at, what, help);
    };
    if let Some((at, word)) = field.serde.skip {
        refuse(
            at,
            format!("the identity `{name}` is not read from the message: `#[serde({word})]`"),
            format!("remove `{word}`, so that the id is the one that was sent"),
        );
    } else if let Some(default) = &field.serde.default {
        match &default.function {
            Some(function) => refuse(
                default.at,
                format!("a message without `{name}` gets the identity that `{function}` makes"),
                or_missing,
            ),
            // `None` is missing, and said so when the key is made.
            None if field.is_option() => {}
            None => refuse(
                default.at,
                format!("a message without `{name}` gets the default identity"),
                or_missing,
            ),
        }
    } else if let Some(at) = field.container_default
        && !field.is_option()
    {
        refuse(
            at,
            format!("a message without `{name}` gets the identity of the type's `Default`"),
            format!(
                "put `#[serde(default)]` on the fields that may be missing, and not on the type with `{name}`"
            ),
        );
    }
    if let Some(at) = field.serde.flatten {
        refuse(
            at,
            format!(
                "the identity `{name}` is put together from the message's other fields: `#[serde(flatten)]`"
            ),
            format!("give the message its identity as one field, and mark that one instead of `{name}`"),
        );
    }
}

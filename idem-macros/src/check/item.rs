//! What the attribute can stand on.

use crate::diagnostics::Diagnostics;
use crate::item::{Item, NotAFunction};
use crate::rules;
use crate::shape::Shape;

pub(super) fn not_a_function(item: &NotAFunction, cx: &mut Diagnostics) {
    match &item.no_body {
        Some(name) => cx.report(
            &rules::ITEM_NO_BODY,
            name,
            format_args!("`#[idempotent]` needs a function with a body, and `{name}` is only declared here"),
            format_args!("put it on the implementation of `{name}`"),
        ),
        None => cx.report(
            &rules::ITEM_NOT_A_FUNCTION,
            item.at,
            format_args!("`#[idempotent]` goes on a function or a method with a body, not on {}", item.what),
            format_args!("put it on each function or method that handles messages"),
        ),
    }
}

/// `const fn` cannot ask a store; `#[track_caller]` would change its meaning without a word.
pub(super) fn qualifiers(item: &Item, shape: &Shape, cx: &mut Diagnostics) {
    let name = &item.name;
    if let Some(at) = item.constness {
        cx.report(
            &rules::ITEM_CONST,
            at,
            format_args!("`#[idempotent]` cannot be used on a `const fn`"),
            format_args!("write `fn {name}`, without `const`"),
        );
    }
    if matches!(shape, Shape::Sync) {
        let track_caller = item.attributes.iter().filter_map(|attribute| attribute.name.as_ref());
        for at in track_caller.filter(|name| *name == "track_caller") {
            cx.report(
                &rules::ITEM_TRACK_CALLER,
                at,
                format_args!("`#[track_caller]` cannot be kept on the idempotent function `{name}`"),
                format_args!("remove it, and pass the location as an argument if `{name}` needs it"),
            );
        }
    }
}

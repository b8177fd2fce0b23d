//! What runs before a future that is made by hand.

use super::key::Keys;
use super::names::Names;
use crate::diagnostics::Diagnostics;
use crate::place::Root;
use crate::rules;
use crate::shape::Shape;

/// The key is read when the future is polled first. A statement before the future that binds an argument's name anew would make
/// it read something else.
pub(super) fn rebinding(shape: &Shape, keys: &Keys, names: &Names, cx: &mut Diagnostics) {
    let Shape::Future(future) = shape else { return };
    for rebound in future.names_before() {
        let argument = keys.places.iter().find_map(|read| match &read.place.root {
            Root::Name(root) if *root == rebound => names.argument(root),
            _ => None,
        });
        if let Some(argument) = argument {
            cx.report(
                &rules::FUTURE_REBOUND,
                &rebound,
                format_args!("`{argument}` is in the key, and is bound anew before the future"),
                format_args!("give the new value another name than `{argument}`"),
            );
        }
    }
}

//! Options that do nothing beside another one.

use super::{Options, StoreOption};
use crate::args::Args;
use crate::diagnostics::Diagnostics;
use crate::rules;

/// What needs a record: the API that gets the key compares, refuses and remembers by itself.
const NEED_A_STORE: [&str; 6] = ["payload", "on_lapse", "on_duplicate", "final_error", "mode", "tx"];
/// What is about a second attempt.
const NEED_A_SECOND_TRY: [&str; 2] = ["max_tries", "on_lapse"];

/// What is about a claim that outlives a transaction, or its holder.
const NEED_A_LEASE: [&str; 5] = ["lease", "max_hold", "max_tries", "on_lapse", "mode"];

pub(super) fn idle(args: &Args, options: &Options, cx: &mut Diagnostics) {
    let cases = [
        (
            matches!(options.store, StoreOption::Nowhere(_)),
            &NEED_A_STORE[..],
            "store = none",
            "or name a store in place of `none`",
        ),
        (
            options.mode == Some("AtMostOnce"),
            &NEED_A_SECOND_TRY[..],
            "mode = \"at_most_once\"",
            "or leave `mode` out",
        ),
        (
            options.tx.is_some(),
            &NEED_A_LEASE[..],
            "tx",
            "or leave `tx` out: the database rolls back what a worker leaves unfinished",
        ),
    ];
    for (applies, idle, beside, instead) in cases {
        if !applies {
            continue;
        }
        for written in &args.options {
            let name = written.name.to_string();
            let says_none = name == "payload" && options.payload.is_empty();
            if idle.contains(&name.as_str()) && !says_none {
                cx.report(
                    &rules::OPTION_IDLE,
                    &written.name,
                    format_args!("`{name}` does nothing beside `{beside}`"),
                    format_args!("leave `{name}` out, {instead}"),
                );
            }
        }
    }
}

//! The times of a record, against each other and against the queue's.

use std::time::Duration;

use super::options::{Options, Window};
use crate::diagnostics::Diagnostics;
use crate::duration::show;
use crate::model::Settings;
use crate::rules;

const DAY: Duration = Duration::from_secs(86_400);
/// The defaults of `Handler`.
const TTL: Duration = DAY.saturating_mul(7);
const KEEP: Duration = DAY.saturating_mul(45);
const LEASE: Duration = Duration::from_secs(30);
const MAX_HOLD: Duration = Duration::from_secs(15 * 60);

pub(super) fn settings(options: &Options, cx: &mut Diagnostics) -> Settings {
    let ttl = ttl(options);
    keep_and_redelivery(options, cx);
    ttl_and_keep(options, ttl, cx);
    lease_and_hold(options, cx);
    Settings {
        scope_was: options.scope_was.clone(),
        ttl,
        keep: options.keep.map(|keep| keep.length),
        lease: options.lease.map(|lease| lease.length),
        max_hold: options.max_hold.map(|hold| hold.length),
        max_tries: options.max_tries,
        on_lapse: options.on_lapse,
        mode: options.mode,
        require: options.require,
        wait: options.wait,
    }
}

/// Results are replayed for `ttl`; if that was not said, for as long as the queue may deliver the message, or the record lives.
fn ttl(options: &Options) -> Option<Duration> {
    let said = options.ttl.map(|ttl| ttl.length);
    let queue = options.redelivery.map(|redelivery| redelivery.length).filter(|length| *length > TTL);
    let record = options.keep.map(|keep| keep.length).filter(|length| *length < queue.unwrap_or(TTL));
    said.or(record).or(queue)
}

/// What a window comes to, and how to speak of it.
fn told(window: Option<Window>, name: &str, default: Duration) -> (Duration, String) {
    match window {
        Some(window) => (window.length, format!("`{name} = \"{}\"`", show(window.length))),
        None => (default, format!("the default `{name}` of {}", show(default))),
    }
}

fn keep_and_redelivery(options: &Options, cx: &mut Diagnostics) {
    let Some(redelivery) = options.redelivery else { return };
    let length = show(redelivery.length);
    let (keep, told) = told(options.keep, "keep", KEEP);
    if keep < redelivery.length {
        cx.report(
            &rules::WINDOW_KEEP,
            options.keep.map_or(redelivery.at, |keep| keep.at),
            format_args!("{told} is shorter than `redelivery = \"{length}\"`"),
            format_args!("write `keep = \"{length}\"` or longer"),
        );
    } else if let Some(ttl) = options.ttl.filter(|ttl| ttl.length < redelivery.length) {
        cx.report(
            &rules::WINDOW_TTL,
            ttl.at,
            format_args!("`ttl = \"{}\"` is shorter than `redelivery = \"{length}\"`", show(ttl.length)),
            format_args!("write `ttl = \"{length}\"` or longer, or leave `ttl` out"),
        );
    }
}

fn ttl_and_keep(options: &Options, ttl: Option<Duration>, cx: &mut Diagnostics) {
    let (Some(written), Some(ttl)) = (options.ttl, ttl) else { return };
    let (keep, told) = told(options.keep, "keep", KEEP);
    if ttl > keep {
        cx.report(
            &rules::WINDOW_TTL_KEEP,
            written.at,
            format_args!("`ttl = \"{}\"` is longer than {}", show(ttl), told),
            format_args!("write `keep = \"{}\"` or longer, or a shorter `ttl`", show(ttl)),
        );
    }
}

fn lease_and_hold(options: &Options, cx: &mut Diagnostics) {
    let (lease, lease_told) = told(options.lease, "lease", LEASE);
    let (hold, hold_told) = told(options.max_hold, "max_hold", MAX_HOLD);
    let Some(at) = options.lease.or(options.max_hold) else { return };
    if lease > hold {
        cx.report(
            &rules::WINDOW_LEASE,
            options.max_hold.unwrap_or(at).at,
            format_args!("{lease_told} is longer than {hold_told}"),
            format_args!("write `max_hold = \"{}\"` or longer", show(lease)),
        );
    }
}

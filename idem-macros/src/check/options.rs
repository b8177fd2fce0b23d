//! What each option means by itself.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use syn::LitStr;

use crate::args::{Args, Written};
use crate::diagnostics::{At, Diagnostics, list};
use crate::model;
use crate::near::nearest;
use crate::place::Place;
use crate::rules::{self, Rule};

mod escapes;
mod idle;
mod values;

use escapes::{allow, payload, trust};
use values::{assigned, choice, key, max_tries, on_duplicate, on_lapse, scope, store, tx, window, wrong};

/// All options that there are, in the order of the documentation.
static NAMES: &[&str] = &[
    "key",
    "store",
    "tx",
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
    ("published", "set `keep` longer than the queue keeps a message"),
    ("recover", "write `on_lapse = \"park\"`, and let a person ask the other side what happened"),
    ("steps", "send each write under a key of its own: `key.step(\"capture\")` of a `#[key]` argument"),
];

/// What other libraries call it.
static ELSEWHERE: &[(&str, &str)] = &[
    ("backend", "store"),
    ("expire", "ttl"),
    ("expiry", "ttl"),
    ("name", "scope"),
    ("on_conflict", "on_duplicate"),
    ("retention", "keep"),
    ("retries", "max_tries"),
    ("storage", "store"),
    ("transaction", "tx"),
];

/// No option, and what is there instead.
static INSTEAD: &[(&str, &str)] = &[(
    "timeout",
    "a time limit of the work goes into the body; how long an attempt owns the message is `lease`, and for how long it is renewed `max_hold`",
)];

/// The options, each understood by itself.
#[derive(Default)]
pub(super) struct Options {
    pub(super) key: KeyOption,
    pub(super) store: StoreOption,
    pub(super) tx: Option<TxOption>,
    /// Whether there is a `tx`, or something that may have been meant as one.
    pub(super) says_tx: bool,
    pub(super) scope: Option<TokenStream>,
    pub(super) scope_was: Vec<String>,
    pub(super) ttl: Option<Window>,
    pub(super) keep: Option<Window>,
    pub(super) redelivery: Option<Window>,
    pub(super) lease: Option<Window>,
    pub(super) max_hold: Option<Window>,
    pub(super) max_tries: Option<u32>,
    pub(super) payload: Vec<(Place, TokenStream)>,
    /// Whether there is a `payload(…)`, or `payload = none`.
    pub(super) payload_is_said: bool,
    pub(super) on_lapse: Option<&'static str>,
    pub(super) wait: Option<Duration>,
    /// Where `on_duplicate` was written.
    pub(super) wait_at: Option<Span>,
    pub(super) final_error: Option<TokenStream>,
    pub(super) mode: Option<&'static str>,
    pub(super) once_per: Option<LitStr>,
    pub(super) require: Option<&'static str>,
    pub(super) trusts: Vec<Trust>,
    pub(super) allows: Vec<Allow>,
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

/// What was said about the handler's own transaction.
pub(super) struct TxOption {
    /// Where it is; `None` if that was not understood, and was reported.
    pub(super) place: Option<Place>,
    pub(super) at: At,
    /// The option's value, for its spans.
    pub(super) tokens: TokenStream,
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
    pub(super) reason: String,
}

/// A rule that does not apply here, as a person says.
pub(super) struct Allow {
    pub(super) rule: &'static Rule,
    pub(super) at: At,
    pub(super) reason: String,
}

impl Options {
    /// What the table of handlers shows of them.
    pub(super) fn declared(&self) -> model::Declared {
        let keys = match &self.key {
            KeyOption::Templates(templates) => templates.iter().map(LitStr::value).collect(),
            KeyOption::Missing | KeyOption::Unusable => Vec::new(),
        };
        let payload = || self.payload.iter().map(|(place, _)| place.to_string()).collect();
        let trusts = self.trusts.iter().map(|trust| (trust.place.to_string(), trust.reason.clone()));
        let allows = self.allows.iter().map(|allow| (allow.rule.name.to_owned(), allow.reason.clone()));
        model::Declared {
            keys,
            redelivery: self.redelivery.map(|redelivery| redelivery.length),
            payload: self.payload_is_said.then(payload),
            once_per: self.once_per.as_ref().map(LitStr::value),
            trusts: trusts.collect(),
            allows: allows.collect(),
        }
    }
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
            let help = if name == "key" {
                "write a list, of which the first key with all its parts is used: `key = [\"…\", \"…\"]`"
            } else {
                "keep one of them"
            };
            cx.report(
                &rules::OPTION_REPEATED,
                &written.name,
                format_args!("duplicate option `{name}`"),
                help,
            );
            continue;
        }
        one(written, &name, &mut options, cx);
        seen.push(name);
    }
    // A misspelt `key` is one mistake, not two; so is what could not be read, which may have been the key.
    let misspelt = |written: &Written| {
        let name = written.name.to_string();
        name != "key" && nearest(&name, NAMES.iter().copied()) == Some("key")
    };
    if matches!(options.key, KeyOption::Missing) && (args.unread || args.options.iter().any(misspelt)) {
        options.key = KeyOption::Unusable;
    }
    options.says_tx = args.unread || args.options.iter().any(|written| means_tx(&written.name.to_string()));
    idle::idle(args, &options, cx);
    options
}

fn means_tx(name: &str) -> bool {
    // What is an option is meant as that one; to look for near names takes longer than all else that is done with it.
    if NAMES.contains(&name) {
        return name == "tx";
    }
    let elsewhere = ELSEWHERE.iter().any(|(other, ours)| name == *other && *ours == "tx");
    elsewhere || nearest(name, NAMES.iter().copied()) == Some("tx")
}

fn one(written: &Written, name: &str, options: &mut Options, cx: &mut Diagnostics) {
    match name {
        "key" => options.key = key(written, cx),
        "store" => options.store = store(written, cx),
        "tx" => options.tx = Some(tx(written, cx)),
        "scope" => options.scope = scope(written, cx),
        "scope_was" => {
            options.scope_was = if let Some(scopes) = written.value.strings() {
                scopes.iter().map(LitStr::value).collect()
            } else {
                wrong(written, "a list of string literals", "[\"billing.charge\"]", cx);
                Vec::new()
            }
        }
        "ttl" => options.ttl = window(written, cx),
        "keep" => options.keep = window(written, cx),
        "redelivery" => options.redelivery = window(written, cx),
        "lease" => options.lease = window(written, cx),
        "max_hold" => options.max_hold = window(written, cx),
        "max_tries" => options.max_tries = max_tries(written, cx),
        "payload" => {
            options.payload = payload(written, cx);
            options.payload_is_said = true;
        }
        "on_lapse" => options.on_lapse = on_lapse(written, cx),
        "on_duplicate" => {
            options.wait = on_duplicate(written, cx);
            options.wait_at = Some(written.name.span());
        }
        "final_error" => {
            options.final_error =
                assigned(written, "the path of a `fn(&E) -> bool`", "ChargeError::is_final", cx);
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
            options.krate = written.value.path();
            if options.krate.is_none() {
                wrong(written, "the path of idem", "::once", cx);
            }
        }
        _ => unknown(written, name, cx),
    }
}

/// The options of `key!`: only those that are about places.
pub(super) fn of_key(args: &Args, cx: &mut Diagnostics) -> Options {
    const KNOWN: &[&str] = &["trust", "allow", "crate"];
    let mut options = Options::default();
    for written in &args.options {
        let name = written.name.to_string();
        if KNOWN.contains(&name.as_str()) {
            one(written, &name, &mut options, cx);
            continue;
        }
        let help = match nearest(&name, KNOWN.iter().copied()) {
            Some(near) => format!("write `{near}`"),
            None => format!(
                "`key!` only makes a key, and takes {}, and types of variables: `message: &Message`",
                list(KNOWN)
            ),
        };
        cx.report(
            &rules::OPTION_UNKNOWN,
            &written.name,
            format_args!("unknown option `{name}` of `key!`"),
            help,
        );
    }
    options
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
    if let Some((_, instead)) = INSTEAD.iter().find(|(other, _)| *other == name) {
        return cx.report(
            &rules::OPTION_UNKNOWN,
            &written.name,
            format_args!("unknown option `{name}`"),
            format_args!("{instead}"),
        );
    }
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name).map(|(_, ours)| *ours);
    match elsewhere.or_else(|| nearest(name, NAMES.iter().copied())) {
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

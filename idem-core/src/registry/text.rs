//! A handler in words, as the attribute would have them. Lock files are made of it: what is written here is compared with what other
//! versions wrote, so a changed word is a diff in every project.

use std::fmt;
use std::time::Duration;

use super::RegisteredHandler;
use crate::machine::OnLapse;
use crate::{Handler, Mode, OnDuplicate, StoreClass};

impl fmt::Display for RegisteredHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&header(self))?;
        options(self).iter().try_for_each(|option| write!(f, "\n    {option}"))
    }
}

/// The line that says which handler it is.
pub(crate) fn header(handler: &RegisteredHandler) -> String {
    if handler.scope_is_expression {
        // The function says whose expression it is; there may be many `Self::NAME`.
        format!("handler of {} with scope = {}", handler.function, one_line(handler.scope()))
    } else {
        header_of(handler.scope())
    }
}

/// That line, of a handler whose scope is known.
pub(crate) fn header_of(scope: &str) -> String {
    format!("handler {}", quoted(scope))
}

/// A line for each option, in the order of the documentation.
pub(crate) fn options(handler: &RegisteredHandler) -> Vec<String> {
    let usual = Handler::new("");
    let settings = handler.handler;
    let mut lines = Vec::new();
    lines.push(match handler.keys {
        [key] => format!("key = {}", quoted(key)),
        keys => format!("key = {}", list(keys)),
    });
    if handler.is_key_only() {
        lines.push("store = none".to_owned());
    } else {
        lines.extend(handler.store.map(|store| format!("store = {}", one_line(store))));
    }
    if let [_, ..] = handler.scope_was() {
        lines.push(format!("scope_was = {}", list(handler.scope_was())));
    }
    if !handler.is_key_only() {
        lines.push(match handler.transaction {
            Some(transaction) => format!("tx = {}", one_line(transaction)),
            None => format!("mode = {}", quoted(mode(settings.mode))),
        });
        lines.push(window("ttl", settings.ttl));
        lines.push(window("keep", settings.keep));
    }
    lines.extend(handler.redelivery.map(|redelivery| window("redelivery", redelivery)));
    for (name, is, usually) in
        [("lease", settings.lease, usual.lease), ("max_hold", settings.max_hold, usual.max_hold)]
    {
        lines.extend((is != usually).then(|| window(name, is)));
    }
    if settings.max_tries != usual.max_tries {
        lines.push(format!("max_tries = {}", settings.max_tries));
    }
    lines.extend(handler.payload.map(|places| match places {
        [] => "payload = none".to_owned(),
        places => format!("payload({})", one_line(&places.join(", "))),
    }));
    if settings.on_lapse == OnLapse::Park {
        lines.push("on_lapse = \"park\"".to_owned());
    }
    if let OnDuplicate::Wait(wait) = settings.on_duplicate {
        lines.push(format!("on_duplicate = wait({})", quoted(&duration(wait))));
    }
    lines.extend(handler.final_error.map(|path| format!("final_error = {}", one_line(path))));
    lines.extend(settings.require.map(|class| format!("require = {}", quoted(required(class)))));
    lines.extend(handler.once_per.map(|entity| format!("once_per = {}", quoted(entity))));
    for (option, said) in [("trust", handler.trusts), ("allow", handler.allows)] {
        let said = said
            .iter()
            .map(|(what, reason)| format!("{option}({}, reason = {})", one_line(what), quoted(reason)));
        lines.extend(said);
    }
    lines
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::LeaseAndReplay => "lease_and_replay",
        Mode::AtMostOnce => "at_most_once",
    }
}

fn required(class: StoreClass) -> &'static str {
    match class {
        StoreClass::Volatile => "any",
        StoreClass::Lossy => "lossy",
        StoreClass::Durable => "durable",
        StoreClass::Transactional => "transactional",
    }
}

fn window(name: &str, length: Duration) -> String {
    format!("{name} = {}", quoted(&duration(length)))
}

/// A duration as the attribute takes it: `1h30m`.
fn duration(length: Duration) -> String {
    let units: [(&str, u128); 7] = [
        ("d", 86_400_000_000_000),
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let mut nanos = length.as_nanos();
    let mut text = String::new();
    for (unit, size) in units {
        if nanos >= size {
            text.extend([(nanos / size).to_string().as_str(), unit]);
            nanos %= size;
        }
    }
    text
}

fn list(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A string literal in one line. Only what has to be escaped is, so that the text does not depend on a version of Unicode.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        if matches!(char, '"' | '\\') {
            quoted.push('\\');
        }
        escaped(char, &mut quoted);
    }
    quoted.push('"');
    quoted
}

/// Source text, which may have a string with a line break in it.
fn one_line(source: &str) -> String {
    let mut line = String::with_capacity(source.len());
    source.chars().for_each(|char| escaped(char, &mut line));
    line
}

fn escaped(char: char, out: &mut String) {
    match char {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{2028}' | '\u{2029}' => out.extend(char.escape_unicode()),
        char if char.is_control() => out.extend(char.escape_unicode()),
        char => out.push(char),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::RegisteredHandler;
    use crate::machine::OnLapse;
    use crate::{Handler, Mode, OnDuplicate, StoreClass};

    static PLAIN: Handler = Handler::new("billing.charge");
    static ALL: Handler = Handler::new("a \"b\"\n\\")
        .scope_was(&["old", "older"])
        .ttl(Duration::from_secs(86_400))
        .keep(Duration::from_millis(5_400_500))
        .lease(Duration::from_secs(10))
        .max_hold(Duration::from_secs(60))
        .max_tries(3)
        .on_lapse(OnLapse::Park)
        .on_duplicate(OnDuplicate::Wait(Duration::from_secs(5)))
        .mode(Mode::AtMostOnce)
        .require(StoreClass::Durable);

    #[test]
    fn a_transaction_stands_in_the_place_of_the_mode() {
        static BOOK: Handler = Handler::new("billing.book");
        let told =
            RegisteredHandler::new(&BOOK, "billing::book", &["msg:<message.id>"]).in_transaction("unit.tx");
        assert_eq!(
            told.to_string(),
            "handler \"billing.book\"\n    key = \"msg:<message.id>\"\n    tx = unit.tx\n    ttl = \"7d\"\n    keep = \"45d\""
        );
    }

    #[test]
    fn what_was_not_said_is_the_mode_and_the_windows_alone() {
        let handler = RegisteredHandler::new(&PLAIN, "billing::charge", &["msg:<message.id>"]);
        assert_eq!(
            handler.to_string(),
            "handler \"billing.charge\"\n    key = \"msg:<message.id>\"\n    mode = \"lease_and_replay\"\n    \
             ttl = \"7d\"\n    keep = \"45d\""
        );
    }

    #[test]
    fn all_that_was_said_is_there_in_one_line_each() {
        let handler = RegisteredHandler::new(&ALL, "billing::charge", &["evt:<m.event>", "msg:<m.id>"])
            .in_store("self.store")
            .redelivered_for(1_209_600, 0)
            .compares(&["m.amount", "m.currency"])
            .keeps_errors("ChargeError::is_final")
            .once_for("customer")
            .trusting(&[("m.offset()", "the broker's,\nfor ever")])
            .allowing(&[("key_payload_only", "one a day")]);
        let expected = r#"handler "a \"b\"\n\\"
    key = ["evt:<m.event>", "msg:<m.id>"]
    store = self.store
    scope_was = ["old", "older"]
    mode = "at_most_once"
    ttl = "1d"
    keep = "1h30m500ms"
    redelivery = "14d"
    lease = "10s"
    max_hold = "1m"
    max_tries = 3
    payload(m.amount, m.currency)
    on_lapse = "park"
    on_duplicate = wait("5s")
    final_error = ChargeError::is_final
    require = "durable"
    once_per = "customer"
    trust(m.offset(), reason = "the broker's,\nfor ever")
    allow(key_payload_only, reason = "one a day")"#;
        assert_eq!(handler.to_string(), expected);
    }

    #[test]
    fn a_handler_that_keeps_no_records_has_no_windows() {
        let handler =
            RegisteredHandler::new(&PLAIN, "billing::charge", &["msg:<m.id>"]).in_store("none").compares(&[]);
        assert_eq!(
            handler.to_string(),
            "handler \"billing.charge\"\n    key = \"msg:<m.id>\"\n    store = none\n    payload = none"
        );
    }

    #[test]
    fn a_scope_that_depends_on_types_is_told_by_its_function() {
        static GENERIC: Handler = Handler::new("T::NAME");
        let handler = RegisteredHandler::new(&GENERIC, "billing::work", &["msg:<m.id>"]).expression();
        assert!(handler.to_string().starts_with("handler of billing::work with scope = T::NAME\n"));
    }
}

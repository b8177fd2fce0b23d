//! The key: its text, its steps, its record's identity, and what logs may show of it.

mod event_time;
mod foreign;
mod identity;
mod ids;
mod injective;
mod joined;
mod parts;
mod redaction;
mod steps;
mod text;

use idem_core::{Error, ErrorKind, Key, KeyPart, KeyText};

/// The key `prefix:<part>`.
fn key_of(part: &(impl KeyPart + ?Sized)) -> Result<Key, Error> {
    let mut text = KeyText::new();
    text.literal("msg:");
    text.part("message.id", part, None);
    text.to_key()
}

/// The text of a part, behind the prefix.
fn text_of(part: &(impl KeyPart + ?Sized)) -> String {
    key_of(part).unwrap().as_str()["msg:".len()..].to_owned()
}

/// Literals and parts in turn, as the macro renders them: each part but the last ends at the literal that follows.
fn render(literals: &[&str], parts: &[&str]) -> Result<String, Error> {
    let mut text = KeyText::new();
    for (at, part) in parts.iter().enumerate() {
        text.literal(literals[at]);
        let end = if at + 1 < parts.len() { literals[at + 1].bytes().next() } else { None };
        text.part(NAMES[at], *part, end);
    }
    if let Some(last) = literals.get(parts.len()) {
        text.literal(last);
    }
    text.finish().map(str::to_owned)
}

const NAMES: [&str; 4] = ["message.a", "message.b", "message.c", "message.d"];

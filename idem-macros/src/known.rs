//! What is known by name, kept as data. The macro resolves no names: it compares the ends of paths.

use std::fmt;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::rules::Rule;
use crate::tokens::{angle_end, is_punct};

pub(crate) mod names;
mod never_const;
mod per_attempt;

/// Calls of one family: what they have in common, and what to use instead.
pub(crate) struct Family {
    /// The rule that a key with such a call breaks.
    pub(crate) rule: &'static Rule,
    /// What such a call gives: "a new id on every attempt".
    pub(crate) gives: &'static str,
    /// What to write instead.
    pub(crate) instead: &'static str,
    /// Which calls: see [`Pattern`].
    pub(crate) calls: &'static [&'static str],
}

/// One entry of a table.
///
/// | written | matches |
/// | --- | --- |
/// | `now_v7` | `now_v7()`, and any path that ends so, called or not |
/// | `Ulid::new` | any path that ends so, called or not |
/// | `.elapsed()` | a method without arguments |
/// | `.fetch_add` | a method, whatever its arguments |
/// | `nanoid!` | a macro |
enum Pattern {
    Name(&'static str),
    Path(&'static str),
    Method { name: &'static str, bare: bool },
    Macro(&'static str),
}

impl Pattern {
    fn of(text: &'static str) -> Self {
        if let Some(name) = text.strip_suffix('!') {
            Self::Macro(name)
        } else if let Some(name) = text.strip_prefix('.') {
            let bare = name.strip_suffix("()");
            Self::Method { name: bare.unwrap_or(name), bare: bare.is_some() }
        } else if text.contains("::") {
            Self::Path(text)
        } else {
            Self::Name(text)
        }
    }
}

/// Something that looks like a call: `a::b(…)`, `.b(…)`, `b!(…)`, or the bare path `a::b`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    segments: Vec<String>,
    kind: Kind,
    called: bool,
    arguments: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Path,
    Method,
    Macro,
}

impl fmt::Display for Mention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.segments.join("::");
        let inside = if self.arguments { ".." } else { "" };
        match self.kind {
            Kind::Macro => write!(f, "{path}!({inside})"),
            Kind::Method => write!(f, ".{path}({inside})"),
            Kind::Path if self.called => write!(f, "{path}({inside})"),
            Kind::Path => f.write_str(&path),
        }
    }
}

impl Mention {
    fn is(&self, pattern: &Pattern) -> bool {
        let last = self.segments.last().map_or("", String::as_str);
        match (pattern, self.kind) {
            (Pattern::Name(name), Kind::Path) => last == *name && (self.called || self.segments.len() > 1),
            (Pattern::Path(path), Kind::Path) => {
                let mut own = self.segments.iter().rev();
                path.rsplit("::").all(|segment| own.next().is_some_and(|own| own == segment))
            }
            (Pattern::Method { name, bare }, Kind::Method) => last == *name && !(*bare && self.arguments),
            (Pattern::Macro(name), Kind::Macro) => last == *name,
            _ => false,
        }
    }
}

/// The first thing in `tokens` that is another one on every attempt.
pub(crate) fn per_attempt(tokens: &TokenStream) -> Option<(Mention, &'static Family)> {
    mentions(tokens).into_iter().find_map(|mention| {
        let family = per_attempt::FAMILIES
            .iter()
            .find(|family| family.calls.iter().any(|call| mention.is(&Pattern::of(call))))?;
        Some((mention, family))
    })
}

/// Whether a method of this name is never a `const fn`: then the compiler need not be asked for a proof.
pub(crate) fn is_never_const(method: &str) -> bool {
    is_conversion(method) || never_const::OTHERS.contains(&method)
}

/// Whether a method of this name turns a value into another form of it that a key shows alike.
pub(crate) fn is_conversion(method: &str) -> bool {
    never_const::CONVERSIONS.contains(&method)
}

/// All paths, method calls and macros in `tokens`, in order.
fn mentions(tokens: &TokenStream) -> Vec<Mention> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(_) => {
                let method = at > 0 && is_punct(&tokens[at - 1], '.');
                let (segments, after) = path(&tokens, at);
                let group = match tokens.get(after) {
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                        Some(group)
                    }
                    _ => None,
                };
                let is_macro = tokens.get(after).is_some_and(|token| is_punct(token, '!'))
                    && matches!(tokens.get(after + 1), Some(TokenTree::Group(_)));
                let kind = match (is_macro, method) {
                    (true, _) => Kind::Macro,
                    (false, true) => Kind::Method,
                    (false, false) => Kind::Path,
                };
                if kind != Kind::Method || group.is_some() {
                    let given = match tokens.get(after + usize::from(is_macro)) {
                        Some(TokenTree::Group(given)) => !given.stream().is_empty(),
                        _ => false,
                    };
                    let arguments = given && (is_macro || group.is_some());
                    found.push(Mention { segments, kind, called: group.is_some(), arguments });
                }
                at = after;
            }
            TokenTree::Group(group) => {
                found.extend(mentions(&group.stream()));
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// The segments of the path that begins at `at`, without their generics, and where it ends.
fn path(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut segments = Vec::new();
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        segments.push(ident.to_string().trim_start_matches("r#").to_owned());
        at += 1;
        let colons = |at: usize| {
            tokens.get(at).is_some_and(|token| is_punct(token, ':'))
                && tokens.get(at + 1).is_some_and(|token| is_punct(token, ':'))
        };
        if !colons(at) {
            break;
        }
        at += 2;
        if tokens.get(at).is_some_and(|token| is_punct(token, '<')) {
            at += angle_end(&tokens[at..]).map_or(tokens.len() - at, |end| end + 1);
            if !colons(at) {
                break;
            }
            at += 2;
        }
    }
    (segments, at)
}

#[cfg(test)]
mod tests {
    use super::{Pattern, per_attempt};

    fn found(code: &str) -> Option<String> {
        per_attempt(&code.parse().unwrap()).map(|(mention, _)| mention.to_string())
    }

    #[test]
    fn calls_are_known_by_the_end_of_their_path() {
        for (code, call) in [
            ("Uuid::new_v4()", "Uuid::new_v4()"),
            ("uuid::Uuid::new_v4().to_string()", "uuid::Uuid::new_v4()"),
            ("::std::time::SystemTime::now().elapsed()", "std::time::SystemTime::now()"),
            ("rand::random::<u64>()", "rand::random()"),
            ("std::process::id()", "std::process::id()"),
            ("message.created_at.elapsed()", ".elapsed()"),
            ("nanoid!(10)", "nanoid!(..)"),
            ("message.id.unwrap_or_else(Uuid::new_v4)", "Uuid::new_v4"),
            ("COUNTER.fetch_add(1, Relaxed)", ".fetch_add(..)"),
            ("now()", "now()"),
            ("self.clock.now()", ".now()"),
        ] {
            assert_eq!(found(code).as_deref(), Some(call), "{code}");
        }
    }

    #[test]
    fn every_entry_of_the_table_is_found_as_people_write_it() {
        for family in super::per_attempt::FAMILIES {
            for call in family.calls {
                let written = match Pattern::of(call) {
                    Pattern::Macro(name) => vec![format!("{name}!()"), format!("some::{name}!(3)")],
                    Pattern::Method { name, bare: true } => vec![format!("message.it.{name}()")],
                    Pattern::Method { name, bare: false } => {
                        vec![format!("it.{name}()"), format!("IT.{name}(1, Relaxed)")]
                    }
                    Pattern::Path(path) => {
                        vec![format!("{path}()"), format!("some::{path}::<u64>(3)"), path.to_owned()]
                    }
                    Pattern::Name(name) => {
                        vec![format!("{name}()"), format!("some::It::{name}(3)"), format!("It::{name}")]
                    }
                };
                for code in written {
                    let known = per_attempt(&code.parse().unwrap()).map(|(_, family)| family.gives);
                    assert_eq!(known, Some(family.gives), "{code}, for the entry `{call}`");
                }
            }
        }
    }

    #[test]
    fn what_only_looks_alike_is_left_alone() {
        for code in [
            "now",
            "message.now",
            "Uuid::new_v5(&NS, id)",
            "ulid.random()",
            "message.id",
            "elapsed",
            "Order::id()",
        ] {
            assert_eq!(found(code), None, "{code}");
        }
    }
}

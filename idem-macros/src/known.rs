//! What is known by name, kept as data. The macro resolves no names: it compares the ends of paths.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Expr, Token};

use crate::rules::{self, Rule};
use crate::tokens::{angle_end, is_punct};

pub(crate) mod carriers;
pub(crate) mod conversions;
pub(crate) mod minted;
pub(crate) mod names;
mod never_const;
mod part_types;
mod table;

pub(crate) use table::{Call, Family, HOST_VARIABLES, Kind};

impl Family {
    /// The rule that a key with such a call breaks.
    pub(crate) fn rule(&self) -> &'static Rule {
        match self.kind {
            Kind::Fresh => &rules::KEY_PER_ATTEMPT,
            Kind::Default => &rules::KEY_DEFAULT,
        }
    }
}

/// A class of types that cannot be parts, with reasons of its own. Whether a type is a part is for the compiler to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Float,
    Clock,
    List,
    Process,
    Random,
    AnyShape,
    Locked,
    Result,
    Unit,
}

impl Class {
    /// The trait that says so.
    pub(crate) fn name(self) -> Ident {
        let name = match self {
            Self::Float => "FloatPart",
            Self::Clock => "ClockPart",
            Self::List => "ListPart",
            Self::Process => "ProcessPart",
            Self::Random => "RandomPart",
            Self::AnyShape => "AnyShapePart",
            Self::Locked => "LockedPart",
            Self::Result => "ResultPart",
            Self::Unit => "UnitPart",
        };
        Ident::new(name, crate::names::site())
    }
}

/// The class of the first type in `ty` that is known by its name. Pointers are known by their sign, tuples and arrays by their form.
pub(crate) fn class_of(ty: &TokenStream) -> Option<Class> {
    if ty.to_string() == "()" {
        return Some(Class::Unit);
    }
    ty.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) => {
            let known = part_types::TYPES.iter().find(|(_, names)| names.iter().any(|name| ident == name));
            known.map(|(class, _)| *class)
        }
        TokenTree::Punct(punct) if punct.as_char() == '*' => Some(Class::Process),
        TokenTree::Group(group) => class_of(&group.stream()).or_else(|| {
            let several = matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Bracket);
            (several && !group.stream().is_empty()).then_some(Class::List)
        }),
        _ => None,
    })
}

/// An entry of the table, taken apart.
enum Pattern {
    Name(&'static str),
    Path {
        path: &'static str,
        /// Only where the last argument is `None`.
        none: bool,
    },
    Method {
        /// How the name of what it is called on has to end.
        on: &'static str,
        name: &'static str,
        bare: bool,
    },
    Macro(&'static str),
}

impl Pattern {
    fn of(call: &Call) -> Self {
        let text = call.pattern;
        if let Some(name) = text.strip_suffix('!') {
            Self::Macro(name)
        } else if let Some((on, name)) = text.split_once('.') {
            let bare = name.strip_suffix("()");
            Self::Method { on, name: bare.unwrap_or(name), bare: bare.is_some() }
        } else if text.contains("::") {
            let path = text.strip_suffix("(None)");
            Self::Path { path: path.unwrap_or(text), none: path.is_some() }
        } else {
            Self::Name(text)
        }
    }
}

impl Pattern {
    /// The name that a call has to end with.
    fn last(&self) -> &'static str {
        match *self {
            Self::Name(name) | Self::Macro(name) | Self::Method { name, .. } => name,
            Self::Path { path, .. } => path.rsplit("::").next().unwrap_or(path),
        }
    }
}

/// Something that looks like a call: `a::b(…)`, `.b(…)`, `b!(…)`, or the bare path `a::b`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) segments: Vec<String>,
    pub(crate) form: Form,
    pub(crate) called: bool,
    pub(crate) arguments: bool,
    /// The last name of what a method is called on.
    pub(crate) on: String,
    /// Whether its last argument is `None`.
    pub(crate) none: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Path,
    Method,
    Macro,
}

impl fmt::Display for Mention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.segments.join("::");
        let inside = if self.arguments { ".." } else { "" };
        match self.form {
            Form::Macro => write!(f, "{path}!({inside})"),
            Form::Method => write!(f, ".{path}({inside})"),
            Form::Path if self.called => write!(f, "{path}({inside})"),
            Form::Path => f.write_str(&path),
        }
    }
}

impl Mention {
    /// The path of a syntax tree, without its generics.
    pub(crate) fn of_path(path: &syn::Path) -> Self {
        let segments = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let (called, arguments, none) = (false, false, false);
        Self { segments, form: Form::Path, called, arguments, on: String::new(), none }
    }

    /// It, called.
    pub(crate) fn called_with(self, arguments: &Punctuated<Expr, Token![,]>) -> Self {
        let none = matches!(arguments.last(), Some(Expr::Path(last)) if last.path.is_ident("None"));
        Self { called: true, arguments: !arguments.is_empty(), none, ..self }
    }

    /// Whether its path ends so.
    pub(crate) fn ends_with(&self, path: &str) -> bool {
        let mut own = self.segments.iter().rev();
        path.rsplit("::").all(|segment| own.next().is_some_and(|own| own == segment))
    }

    fn is(&self, pattern: &Pattern) -> bool {
        let last = self.segments.last().map_or("", String::as_str);
        match (pattern, self.form) {
            (Pattern::Name(name), Form::Path) => {
                let value = name.starts_with(|first: char| first.is_ascii_uppercase());
                last == *name && (self.called || value || self.segments.len() > 1)
            }
            (Pattern::Path { path, none }, Form::Path) => self.ends_with(path) && (self.none || !none),
            (Pattern::Method { on, name, bare }, Form::Method) => {
                last == *name && !(*bare && self.arguments) && self.on.to_lowercase().ends_with(on)
            }
            (Pattern::Macro(name), Form::Macro) => last == *name,
            _ => false,
        }
    }

    /// The family that it belongs to, in a key.
    fn family(&self) -> Option<&'static Family> {
        self.family_where(|_| true)
    }

    /// The family that it belongs to, in a body.
    pub(crate) fn family_in_body(&self) -> Option<&'static Family> {
        self.family_where(|call| call.wherever)
    }

    fn family_where(&self, wanted: impl Fn(&Call) -> bool) -> Option<&'static Family> {
        let last = self.segments.last()?.as_str();
        let entries = BY_NAME.get(last)?;
        let fits = |entry: &&Entry| wanted(entry.call) && self.is(&entry.pattern);
        entries.iter().find(fits).map(|entry| entry.family)
    }
}

/// An entry of the table, with where it stands.
struct Entry {
    pattern: Pattern,
    call: &'static Call,
    family: &'static Family,
}

/// The table by the last name of each entry, in the table's order. Bodies have many names, and few of them are in it.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<Entry>>> = LazyLock::new(|| {
    let mut entries: HashMap<_, Vec<Entry>> = HashMap::new();
    for family in table::FAMILIES {
        for call in family.calls {
            let pattern = Pattern::of(call);
            entries.entry(pattern.last()).or_default().push(Entry { pattern, call, family });
        }
    }
    entries
});

/// A word of each entry that is known in bodies, without which nothing there can be it: of a path, its longest name.
pub(crate) fn words_in_bodies() -> impl Iterator<Item = &'static str> {
    let calls = table::FAMILIES.iter().flat_map(|family| family.calls).filter(|call| call.wherever);
    calls.map(|call| match Pattern::of(call) {
        Pattern::Path { path, .. } => path.rsplit("::").max_by_key(|name| name.len()).unwrap_or(path),
        other => other.last(),
    })
}

/// The family that has an entry of that text.
pub(crate) fn family_of(pattern: &str) -> Option<&'static Family> {
    let has = |family: &&Family| family.calls.iter().any(|call| call.pattern == pattern);
    table::FAMILIES.iter().find(has)
}

/// The first thing in `tokens` that is another one on every attempt.
pub(crate) fn per_attempt(tokens: &TokenStream) -> Option<(Mention, &'static Family)> {
    mentions(tokens).into_iter().find_map(|mention| {
        let family = mention.family()?;
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
                let form = match (is_macro, method) {
                    (true, _) => Form::Macro,
                    (false, true) => Form::Method,
                    (false, false) => Form::Path,
                };
                if form != Form::Method || group.is_some() {
                    let given: Vec<TokenTree> = match tokens.get(after + usize::from(is_macro)) {
                        Some(TokenTree::Group(given)) if is_macro || group.is_some() => {
                            given.stream().into_iter().collect()
                        }
                        _ => Vec::new(),
                    };
                    let none = matches!(given.last(), Some(TokenTree::Ident(last)) if last == "None");
                    let arguments = !given.is_empty();
                    let on = if method { receiver(&tokens[..at - 1]) } else { String::new() };
                    let called = group.is_some();
                    found.push(Mention { segments, form, called, arguments, on, none });
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

/// The last name of what stands before a dot: `rng` of `rng.` and of `rng().`.
fn receiver(before: &[TokenTree]) -> String {
    let name = before.iter().rev().find_map(|token| match token {
        TokenTree::Ident(ident) => Some(Some(ident)),
        TokenTree::Group(_) => None,
        _ => Some(None),
    });
    name.flatten().map_or_else(String::new, ToString::to_string)
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
    use super::{Class, Pattern, class_of, per_attempt};

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
        for family in super::table::FAMILIES {
            for call in family.calls {
                let written = match Pattern::of(call) {
                    Pattern::Macro(name) => vec![format!("{name}!()"), format!("some::{name}!(3)")],
                    Pattern::Method { on, name, bare: true } => vec![format!("message.it{on}.{name}()")],
                    Pattern::Method { on, name, bare: false } => {
                        vec![format!("it{on}.{name}()"), format!("IT{on}.{name}(1, Relaxed)")]
                    }
                    Pattern::Path { path, none: true } => vec![format!("{path}(Some(t), None)")],
                    Pattern::Path { path, none: false } => {
                        vec![format!("{path}()"), format!("some::{path}::<u64>(3)"), path.to_owned()]
                    }
                    Pattern::Name(name) => {
                        vec![format!("{name}()"), format!("some::It::{name}(3)"), format!("It::{name}")]
                    }
                };
                for code in written {
                    let known = per_attempt(&code.parse().unwrap()).map(|(_, family)| family.gives);
                    assert_eq!(known, Some(family.gives), "{code}, for the entry `{}`", call.pattern);
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
            "Ksuid::from_seconds(Some(t), Some(&payload))",
            "message.id.random()",
            "ids.generate(3)",
        ] {
            assert_eq!(found(code), None, "{code}");
        }
    }

    #[test]
    fn a_class_is_known_by_what_is_written() {
        for (ty, class) in [
            ("f64", Some(Class::Float)),
            ("Option<&'a chrono::DateTime<Utc>>", Some(Class::Clock)),
            ("std::collections::HashMap<String, f64>", Some(Class::List)),
            ("&'a *const u8", Some(Class::Process)),
            ("fn(u8) -> u8", Some(Class::Process)),
            ("(u64, u64)", Some(Class::List)),
            ("&[u64]", Some(Class::List)),
            ("[f32; 2]", Some(Class::Float)),
            ("()", Some(Class::Unit)),
            ("Message<()>", None),
            ("Option<serde_json::Value>", Some(Class::AnyShape)),
            ("Arc<Mutex<u64>>", Some(Class::Locked)),
            ("&mut rand::rngs::StdRng", Some(Class::Random)),
            ("Result<Uuid, uuid::Error>", Some(Class::Result)),
            ("String", None),
            ("OrderId", None),
        ] {
            assert_eq!(class_of(&ty.parse().unwrap()), class, "{ty}");
        }
    }
}

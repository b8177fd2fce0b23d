//! What a key can be made of.

use proc_macro2::{Span, TokenStream};
use syn::LitStr;

use super::exceptions::{self, Reader};
use super::facts;
use super::key_names::NamedKey;
use super::names::{Names, ours_at, shown_at};
use super::options::{KeyOption, Options};
use super::unwrap;
use crate::diagnostics::{Diagnostics, list};
use crate::item::{ArgumentKind, Helper, Item};
use crate::known::{self, Class};
use crate::model::{Part, Template, TypedField};
use crate::near::nearest;
use crate::place::{Place, PlaceError, Root, lex};
use crate::rules::{self, Rule};
use crate::template::{self, Piece, TemplateError};

/// The templates, and the places that they read.
#[derive(Default)]
pub(super) struct Keys {
    pub(super) templates: Vec<Template>,
    pub(super) places: Vec<ReadPlace>,
    /// What each key with a prefix begins with, as it stands in the key.
    beginnings: Vec<String>,
    /// What names tell of fields whose messages may say otherwise.
    pub(super) named: Vec<NamedField>,
    /// By the names in them, templates without an identity, unless a message marks one of their fields as one.
    pub(super) enough: Vec<(usize, Vec<TypedField>, String)>,
    /// The rules that it would have broken, had they not been allowed.
    pub(super) excused: Vec<&'static Rule>,
}

/// A field whose name counts against it, unless its message says what it is: what the compiler asks the type.
pub(super) struct NamedField {
    /// Which template reads it.
    pub(super) template: usize,
    pub(super) field: TypedField,
    pub(super) text: String,
}

/// A place, and the template that reads it.
pub(super) struct ReadPlace {
    pub(super) place: Place,
    pub(super) span: Span,
    /// Which template, counted from 0.
    pub(super) template: usize,
}

pub(super) fn templates(options: &Options, item: &Item, names: &Names, cx: &mut Diagnostics) -> Keys {
    let mut keys = Keys::default();
    match &options.key {
        KeyOption::Unusable => {}
        KeyOption::Missing => cx.report(
            &rules::KEY_MISSING,
            &item.name,
            format_args!("`{}` has no key", item.name),
            match names.example() {
                Some(place) => format!("write `#[idempotent(key = \"msg:<{place}>\")]`"),
                None => format!("{NO_ARGUMENTS}, and name it in `key = \"run:<date>\"`"),
            },
        ),
        KeyOption::Templates(templates) => {
            let around = Handler { item, names };
            for literal in templates {
                OneKey { literal, options, around: &around, cx: &mut *cx, keys: &mut keys }.check();
            }
        }
    }
    keys
}

/// What is around a key: which names there are, and how one speaks of them.
pub(super) trait Around {
    /// The token that the place begins with, if there is such a thing here.
    fn root(&self, place: &Place, span: Span) -> Option<TokenStream>;

    fn unknown_root(&self, place: &Place, text: &str, span: Span, cx: &mut Diagnostics);

    /// Whether the place can be another one for another message.
    fn of_message(&self, place: &Place) -> bool;

    /// Whether it is a handler's, and so the identity of a message.
    fn is_of_handler(&self) -> bool;

    /// The field that the place reads, if its type can be asked what it is.
    fn asked(&self, place: &Place) -> Option<TypedField>;

    /// What the place's type seems to be.
    fn class(&self, place: &Place) -> Option<Class>;

    /// A place that there may be here.
    fn example(&self) -> Option<String>;

    /// How a template is written here.
    fn written(&self, template: &str) -> String;

    /// What to write if there is nothing that tells messages apart.
    fn nothing_to_name(&self, prefix: &str) -> String;

    /// What places begin with, with its article.
    fn noun(&self) -> &'static str;
}

/// Around a handler's attribute.
struct Handler<'a> {
    item: &'a Item,
    names: &'a Names,
}

impl Around for Handler<'_> {
    fn root(&self, place: &Place, span: Span) -> Option<TokenStream> {
        root(place, self.names, span)
    }

    fn unknown_root(&self, place: &Place, text: &str, span: Span, cx: &mut Diagnostics) {
        unknown_root(place, text, self.item, self.names, span, cx);
    }

    fn of_message(&self, place: &Place) -> bool {
        matches!(&place.root, Root::Name(name) if self.names.argument(name).is_some())
    }

    fn is_of_handler(&self) -> bool {
        true
    }

    fn asked(&self, place: &Place) -> Option<TypedField> {
        facts::asked(place, self.item, self.names)
    }

    fn class(&self, place: &Place) -> Option<Class> {
        let Root::Name(name) = &place.root else { return None };
        let root = self.names.argument(name).filter(|_| place.is_bare())?;
        self.item.given().find_map(|argument| match &argument.kind {
            ArgumentKind::Typed { pattern, ty, .. } if super::simple_name(pattern).as_ref() == Some(root) => {
                known::class_of(ty)
            }
            _ => None,
        })
    }

    fn example(&self) -> Option<String> {
        self.names.example()
    }

    fn written(&self, template: &str) -> String {
        format!("key = \"{template}\"")
    }

    fn nothing_to_name(&self, prefix: &str) -> String {
        format!("{NO_ARGUMENTS}: `key = \"{prefix}:<date>\"`")
    }

    fn noun(&self) -> &'static str {
        "an argument"
    }
}

const NO_ARGUMENTS: &str = "give the function an argument that is another one for each piece of work, such as the nominal date of the run";

/// One template while it is checked.
pub(super) struct OneKey<'a> {
    pub(super) literal: &'a LitStr,
    pub(super) options: &'a Options,
    pub(super) around: &'a dyn Around,
    pub(super) cx: &'a mut Diagnostics,
    pub(super) keys: &'a mut Keys,
}

impl OneKey<'_> {
    pub(super) fn check(&mut self) {
        let text = self.literal.value();
        let pieces = match template::split(&text) {
            Ok(pieces) => pieces,
            Err(error) => return self.unclosed(&error),
        };
        if !pieces.iter().any(|piece| matches!(piece, Piece::Place(_))) {
            return self.constant(&text);
        }
        self.prefix(&text, pieces.first());
        self.ambiguous(&pieces);
        let before = self.keys.places.len();
        let mut parts = Vec::new();
        let mut all_read = true;
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Literal(text) => parts.push(Part::Literal(template::encode(text))),
                Piece::Place(text) => {
                    let last = !pieces[at..].iter().skip(1).any(|piece| matches!(piece, Piece::Place(_)));
                    let end = if last { None } else { first_byte(pieces.get(at + 1)) };
                    match self.place(text, end) {
                        Some(part) => parts.push(part),
                        None => all_read = false,
                    }
                }
            }
        }
        if all_read && !self.keys.places[before..].iter().any(|read| self.around.of_message(&read.place)) {
            self.constant(&text);
        } else if all_read {
            self.names(&text, before);
        }
        self.keys.templates.push(Template { parts });
    }

    /// What the names in the key tell.
    fn names(&mut self, text: &str, before: usize) {
        let around = self.around;
        let places: Vec<(&Place, bool)> = self.keys.places[before..]
            .iter()
            .map(|read| (&read.place, around.of_message(&read.place)))
            .collect();
        let key = NamedKey {
            prefix: template::prefix(text).unwrap_or_default(),
            places: &places,
            options: self.options,
            is_of_handler: around.is_of_handler(),
            example: around.example(),
            asked: &|place| around.asked(place),
            at: self.literal.span(),
        };
        let told = key.check(self.cx);
        self.keys.excused.extend(told.excused);
        let template = self.keys.templates.len();
        self.keys.enough.extend(told.enough.map(|(fields, text)| (template, fields, text)));
        let named = told.named.into_iter();
        self.keys.named.extend(named.map(|(field, text)| NamedField { template, field, text }));
    }

    fn unclosed(&mut self, error: &TemplateError) {
        let (what, help) = match error {
            TemplateError::Unclosed(rest) => (
                format!("`{rest}` in the key is never closed"),
                format!("close the place, `{rest}>`, or write `<<` for the character itself"),
            ),
            TemplateError::Unopened => (
                "a single `>` in the key closes no place".to_owned(),
                "write `>>` for the character itself".to_owned(),
            ),
        };
        self.cx.report(&rules::KEY_UNCLOSED, self.literal.span(), what, help);
    }

    /// A key that reads nothing of the message makes one record for ever.
    fn constant(&mut self, text: &str) {
        let prefix = template::prefix(text)
            .unwrap_or_else(|| if template::prefix(&format!("{text}:")).is_some() { text } else { "msg" });
        let help = match (template::from_braces(text), self.around.example()) {
            (Some(meant), _) => {
                format!("places stand between `<` and `>`: `{}`", self.around.written(&meant))
            }
            (None, Some(place)) => {
                let written = self.around.written(&format!("{prefix}:<{place}>"));
                format!("name what tells messages apart: `{written}`")
            }
            (None, None) => self.around.nothing_to_name(prefix),
        };
        let what = if text.is_empty() {
            "the key is empty, and so the same for every message".to_owned()
        } else {
            format!("the key `{text}` is the same for every message")
        };
        self.cx.report(&rules::KEY_CONSTANT, self.literal.span(), what, help);
    }

    fn prefix(&mut self, text: &str, first: Option<&Piece>) {
        let prefixed = match first {
            Some(Piece::Literal(literal)) if template::prefix(literal).is_some() => Some(literal),
            _ => None,
        };
        if let Some(literal) = prefixed {
            self.overlap(text, template::encode(literal));
        } else {
            self.cx.report(
                &rules::KEY_PREFIX,
                self.literal.span(),
                format_args!("the key `{text}` does not begin with a prefix"),
                format_args!(
                    "name the source in lower case, and put a colon after it: `{}`",
                    self.around.written(&template::with_prefix(text))
                ),
            );
        }
    }

    /// Of a list, each key has to say which of the templates it came from, whatever the parts hold.
    fn overlap(&mut self, text: &str, beginning: String) {
        let alike = |other: &&String| beginning.starts_with(*other) || other.starts_with(&beginning);
        if let Some(other) = self.keys.beginnings.iter().find(alike) {
            let what = if *other == beginning {
                format!("the key `{text}` begins as another one of the list does, with `{other}`")
            } else {
                format!(
                    "the key `{text}` begins with `{beginning}`, and another one of the list with `{other}`"
                )
            };
            self.cx.report(
                &rules::KEY_OVERLAP,
                self.literal.span(),
                what,
                format_args!(
                    "give each key of the list a prefix of its own: `key = [\"evt:<…>\", \"msg:<…>\"]`"
                ),
            );
        }
        self.keys.beginnings.push(beginning);
    }

    /// Each part has to end where the template says, whatever the parts hold.
    fn ambiguous(&mut self, pieces: &[Piece]) {
        for (at, piece) in pieces.iter().enumerate() {
            let Piece::Place(one) = piece else { continue };
            let (text, other) = match (pieces.get(at + 1), pieces.get(at + 2)) {
                (Some(Piece::Place(other)), _) => ("", other),
                // A part may hold what is encoded: `%C3%A9` would be the `é` of the template or of the part.
                (Some(Piece::Literal(text)), Some(Piece::Place(other)))
                    if text.starts_with(|first: char| {
                        first.is_ascii_alphanumeric() || template::is_encoded(first)
                    }) =>
                {
                    (text.as_str(), other)
                }
                _ => continue,
            };
            self.cx.report(
                &rules::KEY_AMBIGUOUS,
                self.literal.span(),
                format_args!("in the key, `<{one}>{text}<{other}>` does not say where the first part ends"),
                format_args!("begin what stands between them with a sign: `<{one}>:{text}<{other}>`"),
            );
        }
    }

    /// One place; `end` is the byte that ends its part.
    fn place(&mut self, text: &str, end: Option<u8>) -> Option<Part> {
        let span = self.literal.span();
        let tokens = lex(text, span);
        let place = match tokens.clone().map(Place::parse) {
            Some(Ok(place)) => Ok(place),
            Some(Err(error)) => Err(error),
            None => Err(PlaceError::NotAPlace),
        };
        if let Some(tokens) = &tokens {
            let place = place.as_ref().ok().map(|place| (place, self.options));
            let example = self.around.example();
            if exceptions::per_attempt(tokens, place, Reader::Key, example.as_deref(), span.into(), self.cx) {
                return None;
            }
        }
        match place {
            Ok(place) => {
                if unwrap::unwraps(&place, self.options, Reader::Key, span.into(), self.cx) {
                    return None;
                }
                let Some(root) = self.around.root(&place, span) else {
                    self.around.unknown_root(&place, text, span, self.cx);
                    return None;
                };
                let read = place.read(&root, span);
                let name = place.to_string();
                let underscore = matches!(&place.root, Root::Name(root) if root.to_string().starts_with('_'));
                let class = self.around.class(&place);
                self.keys.places.push(ReadPlace { place, span, template: self.keys.templates.len() });
                Some(Part::Place { name, read, end, underscore, class })
            }
            Err(error) => {
                self.not_a_place(text, &error);
                None
            }
        }
    }

    fn not_a_place(&mut self, text: &str, error: &PlaceError) {
        let example = self.around.example().unwrap_or_else(|| "message.id".to_owned());
        let span = self.literal.span();
        match error {
            PlaceError::Empty => self.cx.report(
                &rules::KEY_EMPTY_PLACE,
                span,
                format_args!("the key has a place without an expression: `<{text}>`"),
                format_args!(
                    "name what tells messages apart: `<{example}>`; write `<<` and `>>` for the characters"
                ),
            ),
            PlaceError::Arguments(method) => match self.before_expect(text) {
                Some(inner) if method == "expect" => unwrap::expects(text, &inner, span.into(), self.cx),
                _ => self.cx.report(
                    &rules::KEY_NOT_A_PLACE,
                    span,
                    format_args!("`<{text}>` in the key calls `{method}` with arguments"),
                    format_args!("read a field, or a method without arguments, such as `<{example}>`"),
                ),
            },
            PlaceError::NotAPlace => {
                let noun = self.around.noun();
                let help = match self.simpler(text) {
                    Some(simpler) => format!("write `<{simpler}>`"),
                    None => format!(
                        "name {noun}, a field of one, or a method without arguments, such as `<{example}>`; what has to be computed can be {noun} of its own"
                    ),
                };
                self.cx.report(
                    &rules::KEY_NOT_A_PLACE,
                    span,
                    format_args!("`<{text}>` in the key is not an expression that reads {noun}"),
                    help,
                );
            }
        }
    }

    /// The place in `message.parent.expect("…")`.
    fn before_expect(&self, text: &str) -> Option<Place> {
        let (inner, _) = text.split_once(".expect(")?;
        Place::parse(lex(inner, self.literal.span())?).ok()
    }

    /// The place in something that is one but for a sign that keys do not need: `&message.id`, `message.id?`, `message.id:?`.
    fn simpler(&self, text: &str) -> Option<String> {
        let text = text.trim().trim_start_matches('&');
        let text = text.split_once(':').map_or(text, |(place, _)| place).trim_end_matches('?');
        let place = Place::parse(lex(text, self.literal.span())?).ok()?;
        self.around.root(&place, self.literal.span())?;
        Some(place.to_string())
    }
}

/// The token that a place begins with, if there is such a thing here.
pub(super) fn root(place: &Place, names: &Names, span: Span) -> Option<TokenStream> {
    match &place.root {
        Root::This => names.this.as_ref().map(|this| shown_at(this, span)),
        Root::OfType(path) => Some(ours_at(path, span)),
        Root::Name(name) => {
            names.argument(name).or_else(|| names.constant(name)).map(|name| shown_at(name, span))
        }
    }
}

pub(super) fn unknown_root(
    place: &Place,
    text: &str,
    item: &Item,
    names: &Names,
    span: Span,
    cx: &mut Diagnostics,
) {
    let function = &item.name;
    let Root::Name(root) = &place.root else {
        return cx.report(
            &rules::KEY_NO_RECEIVER,
            span,
            format_args!("`<{text}>` uses `self`, but `{function}` has no `self` parameter"),
            match names.example() {
                Some(place) => format!("name a parameter: `<{place}>`"),
                None => "name a parameter of the function".to_owned(),
            },
        );
    };
    let supplied = item
        .arguments
        .iter()
        .find(|argument| argument.helper.is_some() && argument.bindings().contains(root));
    let written = root.to_string();
    let known: Vec<String> = names.bindings.iter().map(ToString::to_string).collect();
    let near = nearest(&written, known.iter().map(String::as_str));
    let parameters = list(&known);
    let what = match supplied.and_then(|argument| argument.helper.as_ref()) {
        Some((Helper::Key, _)) => {
            format!("`<{text}>` is the key itself, which is not there before it is computed")
        }
        Some(_) => format!("`<{text}>` is supplied by idem, and another one on every attempt"),
        None => format!("`{root}` is not a parameter of `{function}`"),
    };
    let is_constant = written.starts_with(|first: char| first.is_uppercase());
    let help = match near {
        _ if known.is_empty() => NO_ARGUMENTS.to_owned(),
        Some(near) => {
            let meant = text.replacen(&written, near, 1);
            let others =
                if known.len() > 1 { format!("; the parameters are {parameters}") } else { String::new() };
            format!("write `{meant}`{others}")
        }
        None if is_constant => {
            format!("write its text into the key as it is, or name one of the parameters: {parameters}")
        }
        None => format!("name one of its parameters: {parameters}"),
    };
    cx.report(&rules::KEY_UNKNOWN_ARGUMENT, span, what, help);
}

/// The first byte of the literal that follows a part, as it stands in the key.
fn first_byte(piece: Option<&Piece>) -> Option<u8> {
    match piece {
        Some(Piece::Literal(text)) => template::encode(text).bytes().next(),
        _ => None,
    }
}
